import { me } from '../../../src/api.ts';
import { instance } from '../../../src/instance.ts';
import { send } from '../../../src/send.ts';

export async function GET(request: Request): Promise<Response> {
  const ostiary = await instance();
  return send(await me(ostiary, request.headers.get('authorization')));
}
