/**
 * Returns the URL of the host's own consent page for an interaction. Its path must contain the interaction's
 * id: otherwise the cookies of two tabs would overwrite each other.
 * @param interactionUrl - value of the option with this name
 * @throws TypeError for a URL of another origin, or without the id in its path
 */
export function hostPageUrl(interactionUrl: (id: string) => string, id: string, authUrl: URL): URL {
  const url = interactionUrl(id);
  const page = typeof url === 'string' && URL.canParse(url, authUrl.href) ? new URL(url, authUrl) : null;
  if (page?.origin === authUrl.origin && page.pathname.includes(id)) return page;
  throw new TypeError('interactionUrl: must return a URL on the origin of authUrl, with the id in its path');
}
