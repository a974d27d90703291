import '../../src/instance.ts';
import { loginPage, signIn } from '../../src/login.ts';
import { send } from '../../src/send.ts';

async function formOf(request: Request): Promise<Record<string, string>> {
  const decoder = new TextDecoder();
  let body = '';
  for await (const chunk of request.body ?? []) {
    body += decoder.decode(chunk, { stream: true });
    if (body.length > 10_000) throw new Error('this is no login form');
  }
  return Object.fromEntries(new URLSearchParams(body));
}

export async function GET(request: Request): Promise<Response> {
  const returnTo = new URL(request.url).searchParams.get('return_to') ?? '/';
  return send(loginPage(request.headers.get('cookie'), returnTo));
}

export async function POST(request: Request): Promise<Response> {
  return send(await signIn(request.headers.get('cookie'), await formOf(request)));
}
