import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { Exchange, HeaderFields } from '../exchange/exchange.ts'

/** A file of the page in sent form. */
interface StaticFile {
  readonly type: string
  readonly bytes: Uint8Array
  /** Compressed by the build; undefined if it is sent uncompressed. */
  readonly brotli: Uint8Array | undefined
  readonly tag: string
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
}

/** Files that the build names by their content. */
const hashedName = /-[A-Z0-9]{8}\.(?:js|css)$/

/** The files of a folder, read at the first request. A name is looked up among them, so that no path leads out of the folder. */
export class StaticFiles {
  readonly #folder: URL
  #files: Promise<ReadonlyMap<string, StaticFile>> | undefined

  constructor(folder: URL) {
    this.#folder = folder
  }

  /** The names of the files. Empty if the page was not built. */
  async names(): Promise<readonly string[]> {
    return [...(await this.#read()).keys()]
  }

  /** Answers with a file. False for an unknown name. */
  async send(exchange: Exchange, name: string, headers: HeaderFields): Promise<boolean> {
    const file = (await this.#read()).get(name)
    if (file === undefined) return false
    const caching = hashedName.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache'
    const all: HeaderFields = { ...headers, etag: file.tag, 'cache-control': caching, vary: 'accept-encoding' }
    if (exchange.header('if-none-match') === file.tag) {
      exchange.send(304, all, '')
      return true
    }
    all['content-type'] = file.type
    const isCompressed = file.brotli !== undefined && /\bbr\b/.test(exchange.header('accept-encoding') ?? '')
    if (isCompressed) all['content-encoding'] = 'br'
    exchange.send(200, all, isCompressed && file.brotli !== undefined ? file.brotli : file.bytes)
    return true
  }

  #read(): Promise<ReadonlyMap<string, StaticFile>> {
    this.#files ??= this.#readFolder()
    return this.#files
  }

  async #readFolder(): Promise<ReadonlyMap<string, StaticFile>> {
    const names = await readdir(this.#folder).catch((): string[] => [])
    const served = names.filter((name) => Object.hasOwn(types, extensionOf(name)))
    const read = (name: string) => readFile(new URL(name, this.#folder))
    const files = served.map(async (name): Promise<[string, StaticFile]> => {
      const bytes = await read(name)
      const brotli = names.includes(`${name}.br`) ? await read(`${name}.br`) : undefined
      const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
      return [name, { type: types[extensionOf(name)] ?? '', bytes, brotli, tag }]
    })
    return new Map(await Promise.all(files))
  }
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}
