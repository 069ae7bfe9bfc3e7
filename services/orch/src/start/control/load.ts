import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ManifestError } from '@orch/client'
import { badRequest, requestEntityTooLarge } from '@orch/core/meta'
import type { LoadedObject } from '@orch/gateway'
import { OversizeError } from '../../load/dumped-object.ts'
import { readJson } from '../../load/list-texts.ts'
import type { LoadOptions, LoadReport } from '../../load/load.ts'
import type { StoreObjects } from '../../load/store-objects.ts'
import { object, type Route, route } from './route.ts'

/** The parts of a server that a load needs. */
export interface LoadParts {
  readonly store: StoreObjects
  load(path: string, options: LoadOptions): Promise<LoadReport>
}

/** The largest dump file in bytes, which the server keeps on a disk during the load. */
const fileBytesMax = 512 * 1024 * 1024

/** `/load`: stores the objects of a dump. */
export function loadRoute({ store, load }: LoadParts): Route {
  const loading = route(
    'POST /load?name&existing&secrets',
    'stores the objects of a body with their uid, owners and status, and with missing defaults: in application/x-ndjson one a line, in application/octet-stream a file of ?name=dump.tar.gz as orch load reads it; ?existing=keep&secrets=redact',
    async ({ lines, file, query }) => {
      const existing = query.get('existing') ?? 'replace'
      if (existing !== 'keep' && existing !== 'replace') throw badRequest(`existing=${existing}: must be keep or replace`)
      const secrets = query.get('secrets')
      const isRedacted = secrets === 'redact'
      if (secrets !== undefined && !(isRedacted && file !== undefined)) throw badRequest(`secrets=${secrets}: must be redact, for a file`)
      if (lines !== undefined) return object(await store(objectsOf(lines), { keepsExisting: existing === 'keep' }))
      if (file === undefined)
        throw badRequest('the body must be objects, one a line, as application/x-ndjson, or a file as application/octet-stream')
      const options: LoadOptions = isRedacted ? { existing, secrets: 'redact' } : { existing }
      return object(await withFile(file, query.get('name') ?? '', (path) => load(path, options)))
    },
  )
  return { ...loading, takesStream: true }
}

/** Keeps the bytes in a file with the sender's file name during the load. The report uses the sender's paths. */
async function withFile(bytes: AsyncIterable<Buffer>, name: string, work: (path: string) => Promise<LoadReport>): Promise<LoadReport> {
  const folder = await mkdtemp(join(tmpdir(), 'orch-load-'))
  const shown = (text: string) => text.replaceAll(`${folder}/`, '')
  try {
    const path = join(folder, fileName(name))
    await pipeline(bounded(bytes), createWriteStream(path))
    const { findings, unread, ...report } = await work(path)
    return {
      ...report,
      findings: findings.map((finding) => ({ ...finding, file: shown(finding.file), reason: shown(finding.reason) })),
      unread: unread.map(({ file, reason }) => ({ file: shown(file), reason: shown(reason) })),
    }
  } catch (error) {
    throw asRefusal(error, shown)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The last part of a path, cut to a length that file systems accept. Its extension names the format. */
function fileName(path: string): string {
  const name = basename(path.replaceAll('\0', '')).slice(-nameLengthMax)
  return /^\.{0,2}$/.test(name) ? 'dump' : name
}

const nameLengthMax = 64

async function* bounded(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let read = 0
  for await (const chunk of bytes) {
    read += chunk.length
    if (read > fileBytesMax) throw requestEntityTooLarge(`Request entity too large: limit is ${fileBytesMax}`)
    yield chunk
  }
}

async function* objectsOf(lines: AsyncIterable<Buffer>): AsyncGenerator<LoadedObject, void, undefined> {
  let number = 0
  for await (const line of lines) {
    number += 1
    try {
      yield readJson(line, `line ${number}`)
    } catch (error) {
      throw asRefusal(error)
    }
  }
}

/** An unreadable dump as the client's mistake. */
function asRefusal(error: unknown, shown = (text: string) => text): unknown {
  if (!(error instanceof ManifestError)) return error
  return (error instanceof OversizeError ? requestEntityTooLarge : badRequest)(shown(error.message))
}
