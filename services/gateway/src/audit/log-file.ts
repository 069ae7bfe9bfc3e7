import { readdir, stat, unlink } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { RotatingFileStream } from 'rotating-file-stream'
import type { Surroundings } from '../surroundings.ts'
import { type AuditEvent, printLegacyEvent } from './event.ts'
import { inPieces, printAuditEvent } from './print-event.ts'
import type { AuditDelivery } from './sink.ts'

const auditLogFormats = ['json', 'legacy'] as const

export interface AuditLogOptions extends Pick<Surroundings, 'clock' | 'log'> {
  /** `-` is standard output. */
  readonly path: string
  readonly format: (typeof auditLogFormats)[number]
  /** Size in megabytes at which a file is rotated; 0 means 100. */
  readonly sizeMegabytesMax: number
  /** Days that rotated files are kept; 0 for ever. */
  readonly ageDaysMax: number
  /** Number of rotated files that are kept; 0 for all. */
  readonly filesMax: number
  readonly compress: boolean
}

/** Writes events to a file, one per line. The first event opens the file. */
export function createAuditLog(options: AuditLogOptions): AuditDelivery {
  const print = (event: AuditEvent): Uint8Array =>
    options.format === 'json' ? Buffer.concat([printAuditEvent(event), newline]) : Buffer.from(`${printLegacyEvent(event)}\n`)
  if (options.path === '-')
    return {
      name: 'log',
      deliver: (events) => writeInTurns(process.stdout, events, print),
      close: async () => {},
    }
  let file: Promise<RotatingFileStream> | undefined
  let isClosed = false
  const opened = (): Promise<RotatingFileStream> => {
    file ??= openFile(options, () => {
      // A failed stream stays failed: the next event tries a new one, and writing resumes when there is space again.
      file = undefined
    })
    return file
  }
  return {
    name: 'log',
    async deliver(events) {
      // For a request that outlasts the server: a newly opened file would never be closed.
      if (isClosed) throw new Error('the audit log is closed')
      const stream = await opened()
      await writeInTurns(stream, events, print)
    },
    async close() {
      isClosed = true
      const stream = await file
      if (stream !== undefined) await new Promise<void>((resolve) => stream.end(() => resolve()))
    },
  }
}

const newline = Buffer.from('\n')

/** Prints and writes events, a piece in each turn of the event loop. */
async function writeInTurns(
  stream: NodeJS.WritableStream,
  events: readonly AuditEvent[],
  print: (event: AuditEvent) => Uint8Array,
): Promise<void> {
  let isFirst = true
  for (const piece of inPieces(events, print)) {
    if (!isFirst) await setImmediate()
    isFirst = false
    await new Promise<void>((resolve, reject) => stream.write(piece, (error) => (error ? reject(error) : resolve())))
  }
}

async function openFile(options: AuditLogOptions, onEnd: () => void): Promise<RotatingFileStream> {
  const { createStream } = await import('rotating-file-stream')
  const { path, sizeMegabytesMax, compress, clock, log } = options
  const stream = createStream((time, index) => (time ? asideName(path, new Date(clock.now()), index ?? 1, compress) : path), {
    size: `${sizeMegabytesMax === 0 ? 100 : sizeMegabytesMax}M`,
    mode: 0o600,
    ...(compress ? { compress: 'gzip' } : {}),
  })
  stream.on('error', onEnd)
  stream.on('rotated', () => {
    dropOldFiles(options).catch((error: unknown) => log.error({ err: error, path }, 'old audit files could not be removed'))
  })
  return stream
}

/** `audit-2026-01-01T00-00-00.000.log` next to `audit.log`; files rotated within one millisecond are numbered. */
function asideName(path: string, at: Date, index: number, isCompressed: boolean): string {
  const extension = extname(path)
  const stem = basename(path, extension)
  const time = at.toISOString().slice(0, -1).replaceAll(':', '-')
  return join(dirname(path), `${stem}-${time}${index === 1 ? '' : `.${index}`}${extension}${isCompressed ? '.gz' : ''}`)
}

/** Removes rotated files that are too old or too many. */
async function dropOldFiles({ path, ageDaysMax, filesMax, clock }: AuditLogOptions): Promise<void> {
  const extension = extname(path)
  const stem = `${basename(path, extension)}-`
  const names = (await readdir(dirname(path))).filter((name) => name.startsWith(stem) && /-\d{4}-\d\d-\d\dT[\d.-]+/.test(name))
  // Their names contain their times: newest first.
  const files = names
    .sort()
    .reverse()
    .map((name) => join(dirname(path), name))
  const oldestMs = ageDaysMax === 0 ? Number.NEGATIVE_INFINITY : clock.now() - ageDaysMax * 24 * 60 * 60 * 1000
  for (const [index, file] of files.entries()) {
    const isTooMany = filesMax > 0 && index >= filesMax
    if (isTooMany || (await stat(file)).mtimeMs < oldestMs) await unlink(file)
  }
}
