/** A file of a container, or a directory. */
export type FileEntry =
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly mode: number; readonly modifiedMs: number }
  | Directory

export interface Directory {
  readonly kind: 'directory'
  readonly mode: number
  readonly modifiedMs: number
  readonly entries: Map<string, FileEntry>
}

const bytesMax = 64 * 1024 * 1024
/** Files and directories of one tree. */
const entriesMax = 10_000
/** Estimated bytes of an entry beside its content. */
const entryBytes = 256
/** Maximum characters of a path, as in Linux. */
const pathLengthMax = 4096

/** A file cannot be written. */
export class FileError extends Error {}

/** The error of a container without space for a file. */
export function noSpace(bytesMax: number, what: string): FileError {
  return new FileError(`No space left on device: a simulated container takes at most ${bytesMax / 1024 ** 2} MiB ${what}`)
}

/** The files of one run of a container without its volumes, or those of a volume. Paths begin with a slash and have no dots. */
export class FileTree {
  /** True for files of objects, with which they share their bytes. Programs cannot change them. */
  readonly isReadOnly: boolean
  readonly #root: Directory
  #entries = 0
  #bytes = 0

  constructor(nowMs: number, { mode = 0o755, isReadOnly = false }: { readonly mode?: number; readonly isReadOnly?: boolean } = {}) {
    this.isReadOnly = isReadOnly
    this.#root = newDirectory(nowMs, mode)
  }

  get(path: string): FileEntry | undefined {
    let entry: FileEntry | undefined = this.#root
    for (const name of namesIn(path)) entry = entry?.kind === 'directory' ? entry.entries.get(name) : undefined
    return entry
  }

  write(path: string, bytes: Uint8Array, nowMs: number, mode = 0o644): void {
    if (this.get(path)?.kind === 'directory') throw new FileError('Is a directory')
    const directory = this.makeDirectory(parentOf(path), nowMs)
    this.#set(directory, nameOf(path), { kind: 'file', bytes, mode, modifiedMs: nowMs })
  }

  makeDirectory(path: string, nowMs: number, mode = 0o755): Directory {
    if (path.length > pathLengthMax) throw new FileError('File name too long')
    const names = namesIn(path)
    let directory = this.#root
    for (const [index, name] of names.entries()) {
      const known = directory.entries.get(name)
      if (known?.kind === 'file') throw new FileError('Not a directory')
      directory = known ?? this.#set(directory, name, newDirectory(nowMs, index === names.length - 1 ? mode : 0o755))
    }
    return directory
  }

  remove(path: string): void {
    const [parent, removed] = [this.get(parentOf(path)), this.get(path)]
    if (parent?.kind !== 'directory' || removed === undefined || !parent.entries.delete(nameOf(path))) return
    const found = [removed]
    for (const entry of found) {
      this.#entries -= 1
      this.#bytes -= sizeOf(entry)
      if (entry.kind === 'directory') found.push(...entry.entries.values())
    }
  }

  #set<T extends FileEntry>({ entries }: Directory, name: string, entry: T): T {
    const before = entries.get(name)
    const size = sizeOf(entry) - sizeOf(before)
    const isFull = (before === undefined && this.#entries >= entriesMax) || this.#bytes + size > bytesMax
    if (isFull && !this.isReadOnly) throw noSpace(bytesMax, `in ${entriesMax} files`)
    this.#bytes += size
    if (before === undefined) this.#entries += 1
    entries.set(name, entry)
    return entry
  }
}

/** A volume at a path of a container. */
export interface Mount {
  readonly path: string
  readonly tree: FileTree
  readonly from: string
  readonly isReadOnly: boolean
}

interface Place extends Mount {
  readonly within: string
}

/** The files of one run of a container, and of the volumes that are mounted in it. */
export class ContainerFiles {
  readonly #own: Mount
  /** The longest path first. */
  #mounts: readonly Mount[] = []

  constructor(own: FileTree) {
    this.#own = { path: '/', tree: own, from: '/', isReadOnly: false }
  }

  get(path: string): FileEntry | undefined {
    const { tree, within } = this.#placeOf(path)
    return tree.get(within)
  }

  write(path: string, bytes: Uint8Array, nowMs: number, mode?: number): void {
    const { tree, within } = this.#writable(path)
    tree.write(within, bytes, nowMs, mode)
  }

  makeDirectory(path: string, nowMs: number, mode?: number): void {
    const { tree, within } = this.#placeOf(path)
    if (tree.get(within)?.kind !== 'directory') this.#writable(path).tree.makeDirectory(within, nowMs, mode)
  }

  remove(path: string): void {
    if (this.#mounts.some((mount) => isWithin(mount.path, path))) throw new FileError('Device or resource busy')
    const { tree, within } = this.#writable(path)
    tree.remove(within)
  }

  /** Replaces the mounts. Each has a mount point, an empty directory or file, if there is a place for it. */
  mount(mounts: readonly Mount[], nowMs: number): void {
    this.#mounts = mounts.filter(({ path }) => path !== '/').sort((left, right) => right.path.length - left.path.length)
    for (const { path, tree, from } of this.#mounts.toReversed()) {
      const parent = this.#placeOf(parentOf(path))
      const point = joined(parent.within, `/${nameOf(path)}`)
      unlessRefused(() => {
        const { kind } = tree.get(from) ?? tree.makeDirectory(from, nowMs)
        if (parent.tree.get(point) !== undefined) return
        if (kind === 'file') parent.tree.write(point, new Uint8Array(), nowMs)
        else parent.tree.makeDirectory(point, nowMs)
      })
    }
  }

  /** A path and everything below it, sorted. */
  under(path: string): [path: string, entry: FileEntry][] {
    const first = this.get(path)
    const found: [path: string, entry: FileEntry][] = first === undefined ? [] : [[path, first]]
    const mounted = new Map(this.#mounts.map((mount) => [mount.path, mount.tree.get(mount.from)]))
    for (const [at, entry] of found) {
      if (entry.kind === 'file') continue
      for (const [name, child] of entry.entries) {
        const below = joined(at, `/${name}`)
        found.push([below, mounted.get(below) ?? child])
      }
    }
    return found.sort(([one], [other]) => (one < other ? -1 : 1))
  }

  #placeOf(path: string): Place {
    const mount = this.#mounts.find((one) => isWithin(path, one.path)) ?? this.#own
    return { ...mount, within: joined(mount.from, mount === this.#own ? path : path.slice(mount.path.length)) }
  }

  #writable(path: string): Place {
    const place = this.#placeOf(path)
    if (place.isReadOnly) throw new FileError('Read-only file system')
    return place
  }
}

/** The files with which a container begins. */
export function containerFiles(files: Readonly<Record<string, string>>, nowMs: number): ContainerFiles {
  const tree = new FileTree(nowMs)
  for (const path of ['/etc', '/root', '/tmp', '/var']) tree.makeDirectory(path, nowMs)
  // A script may name a file and another one below it.
  for (const [path, text] of Object.entries(files)) unlessRefused(() => tree.write(path, Buffer.from(text), nowMs))
  return new ContainerFiles(tree)
}

function unlessRefused(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof FileError)) throw error
  }
}

function newDirectory(modifiedMs: number, mode: number): Directory {
  return { kind: 'directory', mode, modifiedMs, entries: new Map() }
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

function namesIn(path: string): string[] {
  return path.split('/').filter((name) => name !== '')
}

/** A path that is `rest` below another one. */
function joined(path: string, rest: string): string {
  return path === '/' ? rest || '/' : `${path}${rest}`
}

function isWithin(path: string, other: string): boolean {
  return path === other || other === '/' || path.startsWith(`${other}/`)
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
