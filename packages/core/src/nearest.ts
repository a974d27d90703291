/** How many letters have to be added, left out, replaced or swapped with their neighbour (optimal string alignment). */
function distance(left: string, right: string): number {
  let before: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const isSame = left[row - 1] === right[column - 1];
      const isSwap = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, last] = [last, current];
  }
  return last[right.length] ?? 0;
}

/** Longer words are not compared: they are no typing mistakes. */
const longest = 64;

/**
 * The word that was most likely meant: a letter or two apart, one of which is the beginning of the other, or in other case.
 * `null` when none is near.
 */
export function nearest(word: string, words: readonly string[]): string | null {
  if (word.length > longest) return null;
  const typed = word.toLowerCase();
  let best: { readonly word: string; readonly distance: number } | null = null;
  for (const candidate of words) {
    const other = candidate.toLowerCase();
    const [short, long] = typed.length < other.length ? [typed, other] : [other, typed];
    const isBeginning = short.length >= 3 && long.startsWith(short);
    const most = Math.min(2, Math.floor(long.length / 3));
    const apart = distance(typed, other);
    if (apart > most && !isBeginning) continue;
    if (best === null || apart < best.distance) best = { word: candidate, distance: apart };
  }
  return best?.word ?? null;
}
