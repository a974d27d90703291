/** Options of {@link sqliteStorage}. */
export interface SqliteStorageOptions {
  /**
   * Path of the database file. The file is created with mode 0600 if it is missing. Its directory must exist,
   * on a local disk (WAL does not work on network file systems).
   */
  readonly file: string;
}

/** Validates the options of the storage. Throws a `TypeError` that names the option. */
export function parseOptions(options: unknown): Readonly<SqliteStorageOptions> {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('sqliteStorage: options must be an object such as { file: "ostiary.db" }');
  }
  const unknown = Object.keys(options).find((name) => name !== 'file');
  if (unknown !== undefined)
    throw new TypeError(`sqliteStorage: unknown option ${JSON.stringify(unknown)}; there is file`);
  const file = 'file' in options ? options.file : undefined;
  if (typeof file !== 'string' || file === '') {
    const isMissing = file === undefined || file === '';
    throw new TypeError(
      `sqliteStorage: options.file must be the path of the database file${isMissing ? ', and is missing; is its environment variable set?' : ''}`,
    );
  }
  // Names that SQLite or its driver interprets: no file at all, a URI, a trimmed name.
  if (file === ':memory:' || file.startsWith('file:') || file !== file.trim() || file.includes('\0')) {
    throw new TypeError(
      'sqliteStorage: options.file must be a plain path, not :memory:, a URI or padded text',
    );
  }
  return Object.freeze({ file });
}
