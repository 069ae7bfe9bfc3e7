/** A file of a container, or a directory. */
export type FileEntry =
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly mode: number; readonly modifiedMs: number }
  | { readonly kind: 'directory'; readonly mode: number; readonly modifiedMs: number }

/** Maximum bytes of the files of one container. */
const bytesMax = 64 * 1024 * 1024
/** Files and directories of one container. */
const entriesMax = 10_000
/** Estimated bytes of an entry beside its content. */
const entryBytes = 256

/** The container has no space for a file. */
export class NoSpaceError extends Error {
  constructor(bytesMax: number, what: string) {
    super(`No space left on device: a simulated container takes at most ${bytesMax / 1024 ** 2} MiB ${what}`)
  }
}

/** The files of one container, in memory. Paths begin with a slash and have no dots. */
export class ContainerFiles {
  readonly #entries = new Map<string, FileEntry>()
  #bytes = 0

  constructor(files: Readonly<Record<string, string | Uint8Array>>, nowMs: number) {
    for (const path of ['/', '/etc', '/root', '/tmp', '/var']) this.makeDirectory(path, nowMs)
    for (const [path, content] of Object.entries(files)) this.write(path, Buffer.from(content), nowMs)
  }

  get(path: string): FileEntry | undefined {
    return this.#entries.get(path)
  }

  /** Writes a file, and creates its directories. */
  write(path: string, bytes: Uint8Array, nowMs: number, mode = 0o644): void {
    this.makeDirectory(parentOf(path), nowMs)
    this.#set(path, { kind: 'file', bytes, mode, modifiedMs: nowMs })
  }

  makeDirectory(path: string, nowMs: number, mode = 0o755): void {
    if (path !== '/') this.makeDirectory(parentOf(path), nowMs)
    if (this.#entries.get(path)?.kind !== 'directory') this.#set(path, { kind: 'directory', mode, modifiedMs: nowMs })
  }

  remove(path: string): void {
    for (const [below] of this.under(path)) this.#delete(below)
  }

  /** A path and everything below it, sorted. */
  under(path: string): [path: string, entry: FileEntry][] {
    const prefix = path === '/' ? '/' : `${path}/`
    return [...this.#entries].filter(([one]) => one === path || one.startsWith(prefix)).sort(([one], [other]) => (one < other ? -1 : 1))
  }

  /** The names in a directory, sorted. */
  namesIn(path: string): string[] {
    const start = path === '/' ? 1 : path.length + 1
    return this.under(path).flatMap(([below]) => (below !== path && !below.includes('/', start) ? [below.slice(start)] : []))
  }

  #set(path: string, entry: FileEntry): void {
    const size = sizeOf(entry) - sizeOf(this.#entries.get(path))
    const isFull = this.#entries.size >= entriesMax && !this.#entries.has(path)
    if (isFull || this.#bytes + size > bytesMax) throw new NoSpaceError(bytesMax, `in ${entriesMax} files`)
    this.#bytes += size
    this.#entries.set(path, entry)
  }

  #delete(path: string): void {
    this.#bytes -= sizeOf(this.#entries.get(path))
    this.#entries.delete(path)
  }
}

function sizeOf(entry: FileEntry | undefined): number {
  if (entry === undefined) return 0
  return entryBytes + (entry.kind === 'file' ? entry.bytes.length : 0)
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')))
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
