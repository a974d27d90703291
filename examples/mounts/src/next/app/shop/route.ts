import { parts } from '../../ostiary.ts';

export function GET(request: Request): Response {
  return new Response(parts().host.shopPage(request.headers.get('cookie') ?? undefined));
}
