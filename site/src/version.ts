import versions from '../versions.json' with { type: 'json' };

/**
 * URL under which all versions of the documentation are published, such as
 * `https://ostiary.github.io/ostiary`. Without this URL, the built version is alone on its host.
 */
const home = process.env.SITE_HOME ?? '';
const name = process.env.SITE_VERSION ?? 'next';
const found = versions.find((version) => version.name === name);
if (found === undefined) throw new Error(`versions.json has no ${name}`);

/** Version of the documentation to build. `base` is the path of its pages, with a slash at the end. */
export const version = {
  home,
  name,
  base: `${home === '' ? '' : new URL(home).pathname.replace(/\/$/, '')}${found.path}`,
};
