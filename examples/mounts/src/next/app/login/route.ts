import { parts } from '../../ostiary.ts';

export function GET(request: Request): Response {
  const returnTo = new URL(request.url).searchParams.get('return_to') ?? '';
  return new Response(parts().host.loginPage(returnTo), { headers: { 'Content-Type': 'text/html' } });
}

export async function POST(request: Request): Promise<Response> {
  const form = Object.fromEntries(new URLSearchParams(await request.text()));
  const { cookie, location } = parts().host.signIn(form);
  return new Response(null, { status: 303, headers: { Location: location, 'Set-Cookie': cookie } });
}
