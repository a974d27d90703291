import versions from '../versions.json' with { type: 'json' };

/**
 * URL under which all versions are published, such as `https://ostiary.github.io/ostiary`. Without it, this
 * version is alone on its host.
 */
const home = process.env.SITE_HOME ?? '';
const name = process.env.SITE_VERSION ?? 'next';
const found = versions.find((version) => version.name === name);
if (found === undefined) throw new Error(`versions.json has no ${name}`);

/** Version to build. `base` is the path of its pages, with a slash at the end. */
export const version = {
  home,
  name,
  base: `${home === '' ? '' : new URL(home).pathname.replace(/\/$/, '')}${found.path}`,
};
