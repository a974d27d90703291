import { instance } from '../src/instance.ts';
import { send } from '../src/send.ts';

export async function GET(request: Request): Promise<Response> {
  const { homePage } = await instance();
  return send(homePage(request.headers.get('cookie')));
}
