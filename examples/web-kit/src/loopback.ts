const loopbackHost = /^((?:[^.]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Checks whether a URL's host is this machine. */
export function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && loopbackHost.test(new URL(url).hostname);
}
