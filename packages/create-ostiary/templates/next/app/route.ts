import '../src/instance.ts';
import { homePage } from '../src/login.ts';
import { send } from '../src/send.ts';

export async function GET(request: Request): Promise<Response> {
  return send(homePage(request.headers.get('cookie')));
}
