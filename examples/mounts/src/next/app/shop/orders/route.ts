import { parts } from '../../../ostiary.ts';

export async function POST(request: Request): Promise<Response> {
  return Response.json(parts().host.order(await request.json()));
}
