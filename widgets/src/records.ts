/** Objects whose keys come from outside. */

/** Add an entry; a plain assignment of the key "__proto__" would not make one. */
export function put<T>(entries: Record<string, T>, key: string, value: T): void {
  const plain = { enumerable: true, configurable: true, writable: true };
  Object.defineProperty(entries, key, { value, ...plain });
}

export function entryOf<T>(entries: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(entries, key) ? entries[key] : undefined;
}

/** Keep an entry as the newest of its kind; of more than `most` the oldest goes. */
export function putNewest<T>(
  entries: Record<string, T>,
  key: string,
  value: T,
  most: number,
): void {
  delete entries[key];
  put(entries, key, value);
  const keys = Object.keys(entries);
  if (keys.length > most) delete entries[keys[0] as string];
}
