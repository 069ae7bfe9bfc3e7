import type { Names } from '@orch/core/names'
import { limits } from '../limits.ts'
import type { Surroundings } from '../surroundings.ts'
import { type ReadBody, readBody } from '../texts/read-body.ts'
import type { TextThread } from '../texts/text-thread.ts'
import { PrintedObject } from './event.ts'
import type { AuditStage } from './policy.ts'
import type { AuditedBody, AuditRecord } from './record.ts'

/** The bodies of an event. `isCut` is true if one could not be parsed. */
export interface ReadBodies {
  readonly sent: ReadBody | undefined
  readonly answered: ReadBody | undefined
  readonly isCut: boolean
}

/** Parses bodies for events. */
export interface BodyReader extends Pick<Surroundings, 'names' | 'level'> {
  readonly thread: Pick<TextThread, 'do'>
  /** Called for a body that the thread has failed to parse. */
  readonly onError: (error: unknown) => void
}

const nothing: ReadBodies = { sent: undefined, answered: undefined, isCut: false }

/** The bodies of an event: small ones are parsed at once, and a large one returns a promise. */
export function readBodies(
  { body, answer, decision, carriesTokens, isStatus }: AuditRecord,
  stage: AuditStage,
  reader: BodyReader,
): ReadBodies | Promise<ReadBodies> {
  if (stage === 'RequestReceived') return nothing
  const { level, omitManagedFields } = decision
  const read = (audited: AuditedBody | undefined, how: Omit<HowToRead, 'omitManagedFields'>) =>
    readOne(audited, { omitManagedFields, ...how }, reader)
  const sent = read(body, { isPrinted: level !== 'Metadata', withholdsTokens: carriesTokens })
  // A refusal has the server's own text.
  const answered = level === 'RequestResponse' ? read(answer, { isPrinted: true, withholdsTokens: carriesTokens && !isStatus }) : undefined
  if (!(sent instanceof Promise) && !(answered instanceof Promise)) return { sent, answered, isCut: false }
  return Promise.allSettled([sent, answered]).then((bodies) => {
    for (const one of bodies) if (one.status === 'rejected') reader.onError(one.reason)
    const [first, second] = bodies.map((one) => (one.status === 'fulfilled' ? one.value : undefined))
    return { sent: first, answered: second, isCut: bodies.some(({ status }) => status === 'rejected') }
  })
}

/** Bytes of the bodies that the thread parses for an event of this stage. */
export function largeBytesOf({ body, answer }: AuditRecord): number {
  return [body, answer].reduce((sum, one) => sum + (one === undefined || !isLarge(one) ? 0 : lengthOf(one)), 0)
}

interface HowToRead {
  readonly omitManagedFields: boolean
  readonly withholdsTokens: boolean
  readonly isPrinted: boolean
}

function readOne(
  body: AuditedBody | undefined,
  { isPrinted, ...how }: HowToRead,
  { names, level, thread }: BodyReader,
): ReadBody | undefined | Promise<ReadBody | undefined> {
  if (body === undefined) return undefined
  const reading = { contentType: body.contentType, level, ...how }
  const [first, ...others] = body.chunks
  const bytes = first !== undefined && others.length === 0 ? first : Buffer.concat(body.chunks)
  if (!isLarge(body)) return readBody(bytes, reading, names)
  return readInThread(thread, { bytes, reading, isPrinted }, names)
}

async function readInThread(
  thread: BodyReader['thread'],
  job: { readonly bytes: Uint8Array; readonly reading: Parameters<typeof readBody>[1]; readonly isPrinted: boolean },
  { profile }: Names,
): Promise<ReadBody | undefined> {
  const answer = await thread.do({ kind: 'auditBody', profile, ...job })
  if (answer.kind !== 'auditBody') throw new Error(`the thread of texts has answered ${answer.kind}`)
  const { metadata, bytes } = answer
  if (metadata === undefined) return undefined
  return { metadata, object: bytes === undefined ? undefined : new PrintedObject(bytes) }
}

function isLarge(body: AuditedBody): boolean {
  return lengthOf(body) >= limits.largeBytesMin
}

function lengthOf({ chunks }: AuditedBody): number {
  return chunks.reduce((sum, { length }) => sum + length, 0)
}
