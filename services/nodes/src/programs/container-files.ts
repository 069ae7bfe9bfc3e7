/** A file of a container, or a directory. */
export type FileEntry =
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly mode: number; readonly modifiedMs: number }
  | Directory

/** A directory of a container, or the root of a volume, which several containers have. */
export interface Directory {
  readonly kind: 'directory'
  readonly mode: number
  readonly modifiedMs: number
  readonly entries: Map<string, FileEntry>
  readonly isReadOnly?: boolean
}

/** Maximum bytes of the files that one container holds. */
const bytesMax = 64 * 1024 * 1024
/** Files and directories of one container. */
const entriesMax = 10_000
/** Estimated bytes of an entry beside its content. */
const entryBytes = 256

/** A file cannot be written. */
export class FileError extends Error {}

/** The error of a container without space for a file. */
export function noSpace(bytesMax: number, what: string): FileError {
  return new FileError(`No space left on device: a simulated container takes at most ${bytesMax / 1024 ** 2} MiB ${what}`)
}

/** The files of one container, in memory. Paths begin with a slash and have no dots. */
export class ContainerFiles {
  readonly #root: Directory
  #entries = 0
  #bytes = 0

  constructor(root: Directory) {
    this.#root = root
  }

  get(path: string): FileEntry | undefined {
    return entryAt(this.#root, path)
  }

  /** Writes a file, and creates its directories. */
  write(path: string, bytes: Uint8Array, nowMs: number, mode = 0o644): void {
    this.put(path, { kind: 'file', bytes, mode, modifiedMs: nowMs }, nowMs)
  }

  makeDirectory(path: string, nowMs: number, mode = 0o755): Directory {
    const known = this.get(path)
    return known?.kind === 'directory' ? known : this.put(path, newDirectory(nowMs, mode), nowMs)
  }

  /** Makes a path an entry, which may be the root of a volume. */
  put<T extends FileEntry>(path: string, entry: T, nowMs: number): T {
    this.#checkWritable(path)
    const parent = this.makeDirectory(parentOf(path), nowMs)
    const name = nameOf(path)
    const size = sizeOf(entry) - sizeOf(parent.entries.get(name))
    const isFull = this.#entries >= entriesMax && !parent.entries.has(name)
    if (isFull || this.#bytes + size > bytesMax) throw noSpace(bytesMax, `in ${entriesMax} files`)
    this.#bytes += size
    if (!parent.entries.has(name)) this.#entries += 1
    parent.entries.set(name, entry)
    return entry
  }

  remove(path: string): void {
    this.#checkWritable(path)
    const [parent, removed] = [this.get(parentOf(path)), this.under(path)]
    if (parent?.kind !== 'directory' || !parent.entries.delete(nameOf(path))) return
    this.#entries -= removed.length
    for (const [, entry] of removed) this.#bytes -= sizeOf(entry)
  }

  #checkWritable(path: string): void {
    for (let at = path; at !== '/'; ) {
      at = parentOf(at)
      const directory = this.get(at)
      if (directory?.kind === 'directory' && directory.isReadOnly === true) throw new FileError('Read-only file system')
    }
  }

  /** A path and everything below it, sorted. */
  under(path: string): [path: string, entry: FileEntry][] {
    const entry = this.get(path)
    return entry === undefined ? [] : [...walk(path, entry)].sort(([one], [other]) => (one < other ? -1 : 1))
  }
}

/** The files with which a container begins. */
export function containerFiles(files: Readonly<Record<string, string>>, nowMs: number): ContainerFiles {
  const made = new ContainerFiles(newDirectory(nowMs))
  for (const path of ['/etc', '/root', '/tmp', '/var']) made.makeDirectory(path, nowMs)
  for (const [path, text] of Object.entries(files)) made.write(path, Buffer.from(text), nowMs)
  return made
}

/** An empty directory. */
export function newDirectory(modifiedMs: number, mode = 0o755): Directory {
  return { kind: 'directory', mode, modifiedMs, entries: new Map() }
}

/** The entry at a path below another one. */
export function entryAt(root: FileEntry, path: string): FileEntry | undefined {
  let entry: FileEntry | undefined = root
  for (const name of path.split('/')) if (name !== '') entry = entry?.kind === 'directory' ? entry.entries.get(name) : undefined
  return entry
}

function* walk(path: string, entry: FileEntry): Generator<[path: string, entry: FileEntry]> {
  yield [path, entry]
  if (entry.kind === 'directory') for (const [name, child] of entry.entries) yield* walk(`${path === '/' ? '' : path}/${name}`, child)
}

function sizeOf(entry: FileEntry | undefined): number {
  if (entry === undefined) return 0
  return entryBytes + (entry.kind === 'file' ? entry.bytes.length : 0)
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')))
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** A path relative to another one, without dots. */
export function resolvePath(from: string, path: string): string {
  const names: string[] = []
  for (const name of (path.startsWith('/') ? path : `${from}/${path}`).split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return `/${names.join('/')}`
}
