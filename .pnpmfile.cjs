// Edits a manifest before pnpm packs it. The condition `ostiary-source` leads to sources, from which everything in this
// repository runs; a tarball has no sources, so the condition is removed.

/** @param {unknown} entry a part of `exports` or `imports` */
function withoutSource(entry) {
  if (typeof entry !== 'object' || entry === null) return entry;
  return Object.fromEntries(
    Object.entries(entry)
      .filter(([condition]) => condition !== 'ostiary-source')
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
