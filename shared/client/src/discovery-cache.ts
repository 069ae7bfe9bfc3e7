import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readText } from './request.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

/** The cached part of an answer. */
interface KeptAnswer {
  readonly etag: string
  readonly contentType: string
  readonly body: string
}

/** A cache of answers. An entry that cannot be read or written is treated as absent. */
export type AnswerCache = ReturnType<typeof createFileCache>

const discovery = /^\/(?:api|apis)(?:\/[^/?]+){0,2}$/

/**
 * Caches discovery answers that have an ETag. Every request still goes to the server with that ETag, so a cached answer is never stale;
 * on a 304 the cached body is returned. Other requests pass through.
 */
export function createDiscoveryCache(transport: Transport, cache: AnswerCache): Transport {
  return {
    async send(request) {
      if (request.method !== 'GET' || !discovery.test(request.path)) return transport.send(request)
      const key = `${request.headers['accept'] ?? ''} ${request.path}`
      const kept = cache.read(key)
      const response = await transport.send(kept === undefined ? request : conditional(request, kept.etag))
      const { etag, 'content-type': contentType = '' } = response.headers
      if (response.status === 304 && kept !== undefined) {
        await readText(response)
        return answer({ ...response, status: 200 }, kept)
      }
      if (response.status !== 200 || etag === undefined) return response
      const fresh = { etag, contentType, body: await readText(response) }
      cache.write(key, fresh)
      return answer(response, fresh)
    },
    close: () => transport.close(),
  }
}

function conditional(request: TransportRequest, etag: string): TransportRequest {
  return { ...request, headers: { ...request.headers, 'if-none-match': etag } }
}

function answer({ status, headers }: TransportResponse, { contentType, body }: KeptAnswer): TransportResponse {
  const bytes = (async function* () {
    yield Buffer.from(body)
  })()
  return { status, headers: { ...headers, 'content-type': contentType }, body: bytes }
}

/** Maximum number of files in a folder; the oldest are deleted first. */
const filesMax = 64

/** Stores the answers of one server as files in a folder that several servers share. */
export function createFileCache(folder: string, server: string) {
  const fileOf = (key: string) => join(folder, `${createHash('sha256').update(`${server} ${key}`).digest('hex')}.json`)
  return {
    read: (key: string) => attempt(() => parseAnswer(readFileSync(fileOf(key), 'utf8'))),
    write: (key: string, kept: KeptAnswer) =>
      attempt(() => {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        // A reader sees the old file or the new one, never a part of it.
        const unfinished = `${fileOf(key)}.${process.pid}`
        writeFileSync(unfinished, JSON.stringify(kept), { mode: 0o600 })
        renameSync(unfinished, fileOf(key))
        makeRoom(folder)
      }),
  }
}

function makeRoom(folder: string): void {
  const files = readdirSync(folder).map((name) => join(folder, name))
  if (files.length <= filesMax) return
  const byAge = files.map((file) => ({ file, writtenMs: statSync(file).mtimeMs })).sort((one, other) => one.writtenMs - other.writtenMs)
  for (const { file } of byAge.slice(0, files.length - filesMax)) rmSync(file)
}

function parseAnswer(text: string): KeptAnswer | undefined {
  const found: unknown = JSON.parse(text)
  if (typeof found !== 'object' || found === null || !('etag' in found) || !('contentType' in found) || !('body' in found)) return undefined
  const { etag, contentType, body } = found
  if (typeof etag !== 'string' || typeof contentType !== 'string' || typeof body !== 'string') return undefined
  return { etag, contentType, body }
}

function attempt<T>(what: () => T): T | undefined {
  try {
    return what()
  } catch {
    return undefined
  }
}
