// Re-exports the HTML kit of Ostiary's own pages.
export { fill, fillText, type Html, html, initialOf, readableOn, render } from '@ostiary/core/pages';
export { cookie } from './cookie.ts';
export { document } from './document.ts';
export { type Check, checked, list, origin, port, some, switched, whole } from './environment.ts';
export { FormError, readForm } from './form.ts';
export { contentPolicy } from './headers.ts';
export {
  type Address,
  AddressError,
  type HttpServer,
  type ListenOptions,
  listen,
  patience,
} from './listen.ts';
export { isLoopbackUrl } from './loopback.ts';
export { unlessPrefetched } from './prefetch.ts';
export { scriptRoute, seeOther } from './responses.ts';
export { createStyle, type Palette, type Style } from './style.ts';
export type { SocketAddress } from './unix-socket.ts';
