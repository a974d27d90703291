/** What was claimed ahead for endpoints that have no room at the moment, first come, first served. */
export interface Backlog<Item> {
  sizeOf(endpointId: string): number;
  add(endpointId: string, item: Item): void;
  /** Takes the one that has waited longest. */
  next(endpointId: string): Item | undefined;
  /** Takes all of one endpoint, or of every one. */
  empty(endpointId?: string): Item[];
}

export function createBacklog<Item>(): Backlog<Item> {
  const waiting = new Map<string, Item[]>();

  return {
    sizeOf: (endpointId) => waiting.get(endpointId)?.length ?? 0,
    add(endpointId, item) {
      const items = waiting.get(endpointId);
      if (items === undefined) waiting.set(endpointId, [item]);
      else items.push(item);
    },
    next(endpointId) {
      const items = waiting.get(endpointId);
      if (items === undefined) return undefined;
      const item = items.shift();
      if (items.length === 0) waiting.delete(endpointId);
      return item;
    },
    empty(endpointId) {
      const ids = endpointId === undefined ? [...waiting.keys()] : [endpointId];
      return ids.flatMap((id) => {
        const items = waiting.get(id) ?? [];
        waiting.delete(id);
        return items;
      });
    },
  };
}
