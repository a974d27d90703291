/**
 * Returns the URL to which the browser goes after a sign-in: always a path of this server. Targets that a
 * browser would read as another host (`//evil`, `/\evil`, `https:evil`, other ports) become the home page.
 *
 * @returns an absolute URL, because a path could begin with two slashes and lead to another host
 */
export function safeReturnTo(value: string | undefined, authUrl: string): string {
  const home = `${authUrl}/`;
  if (value === undefined || value.length > 8_192) return home;
  // Browsers drop tabs and newlines inside a URL and read a backslash as a slash.
  if (/[\s\\\p{Cc}]/u.test(value)) return home;
  if (!value.startsWith(home) && !/^\/(?!\/)/.test(value)) return home;
  if (!URL.canParse(value, authUrl)) return home;
  const url = new URL(value, authUrl);
  if (url.origin !== authUrl || url.username !== '' || url.password !== '') return home;
  return `${url.origin}${url.pathname}${url.search}`;
}
