// What pnpm does with a manifest before it packs it. Sources are not in a tarball, so the condition `source`, by which
// everything in this repository runs from them, must not be there either.

/** @param {unknown} entry a part of `exports` or `imports` */
function withoutSource(entry) {
  if (typeof entry !== 'object' || entry === null) return entry;
  return Object.fromEntries(
    Object.entries(entry)
      .filter(([condition]) => condition !== 'source')
      .map(([condition, target]) => [condition, withoutSource(target)]),
  );
}

module.exports = {
  hooks: {
    beforePacking: (manifest) => ({
      ...manifest,
      exports: withoutSource(manifest.exports),
      ...(manifest.imports && { imports: withoutSource(manifest.imports) }),
    }),
  },
};
