import {
  type AdmissionService,
  type ApiObject,
  type Attributes,
  type CallContext,
  type CommitRequest,
  type Interest,
  StatusError,
  serviceUnavailable,
} from '@orch/core'
import { type Clock, type Log, sleep } from '@orch/platform'
import { limits } from '../limits.ts'
import { originOf } from '../verbs/verb.ts'
import type { Write } from '../write/write-loop.ts'

type Conditions = CommitRequest['conditions']
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE'

/** Asks admission about a write, where admission has something to say. */
export interface Admitter {
  /** The object as admission wants it, and what must still hold when it is committed. */
  mutate(
    write: Write,
    operation: Operation,
    object: ApiObject,
    live: ApiObject | undefined,
  ): Promise<{ object: ApiObject; conditions: Conditions }>
  /** Refuses by throwing. */
  validate(write: Write, operation: Operation, object: ApiObject | undefined, live: ApiObject | undefined): Promise<Conditions>
  close(): void
}

export interface AdmitterOptions {
  readonly admission: AdmissionService | undefined
  readonly clock: Clock
  readonly log: Log
}

const noConditions: Conditions = []

/** Without an admission service nothing is refused. */
export function createAdmitter({ admission, clock, log }: AdmitterOptions): Admitter {
  if (admission === undefined) {
    return {
      mutate: async (_write, _operation, object) => ({ object, conditions: noConditions }),
      validate: async () => noConditions,
      close: () => {},
    }
  }
  const interests = new Interests(admission, clock, log)
  const ask = async (phase: 'mutate' | 'validate', write: Write, attributes: Attributes) => {
    if (!interests.match(phase, attributes)) return undefined
    const answer = await admit(admission, phase, attributes, originOf(write.request))
    for (const warning of answer.warnings) write.request.warn(warning)
    if (answer.kind === 'denied') throw new StatusError(answer.status)
    return answer
  }
  return {
    async mutate(write, operation, object, live) {
      const answer = await ask('mutate', write, attributesOf(write, operation, object, live))
      return { object: (answer?.object as ApiObject | undefined) ?? object, conditions: answer?.conditions ?? noConditions }
    },
    async validate(write, operation, object, live) {
      const answer = await ask('validate', write, attributesOf(write, operation, object, live))
      return answer?.conditions ?? noConditions
    },
    close: () => interests.close(),
  }
}

async function admit(
  admission: AdmissionService,
  phase: string,
  attributes: Attributes,
  context: CallContext,
): Promise<Awaited<ReturnType<AdmissionService['admit']>>> {
  try {
    return await admission.admit({ phase, attributes }, context)
  } catch (error) {
    if (error instanceof StatusError) throw error
    throw serviceUnavailable('admission cannot be reached', { cause: error })
  }
}

function attributesOf(
  { request, target, name, options, optionsObject }: Write,
  operation: Operation,
  object: ApiObject | undefined,
  live: ApiObject | undefined,
): Attributes {
  const { served, subresource, info } = target
  const { group, version, kind, plural } = served.resource
  return {
    operation,
    group,
    version,
    kind,
    resource: plural,
    subresource: subresource?.name ?? '',
    namespace: served.resource.isNamespaced ? info.namespace : '',
    name: name !== '' ? name : (object?.metadata.name ?? ''),
    object,
    oldObject: live,
    options: optionsObject,
    user: request.user,
    dryRun: options.isDryRun,
    requestId: request.auditId,
  }
}

/** What admission wants to be asked about. A set that is too old is not believed: then everything is asked. */
class Interests {
  readonly #clock: Clock
  readonly #closed = new AbortController()
  #interests: readonly Interest[] | undefined
  #receivedMs = 0

  constructor(admission: AdmissionService, clock: Clock, log: Log) {
    this.#clock = clock
    void this.#follow(admission, log)
  }

  match(phase: string, attributes: Attributes): boolean {
    if (this.#interests === undefined || this.#clock.monotonic() - this.#receivedMs > limits.interestAgeMsMax) return true
    return this.#interests.some((interest) => matches(interest, phase, attributes))
  }

  close(): void {
    this.#closed.abort()
  }

  async #follow(admission: AdmissionService, log: Log): Promise<void> {
    const { signal } = this.#closed
    while (!signal.aborted) {
      try {
        for await (const { interests } of admission.interests({}, { signal })) {
          this.#interests = interests
          this.#receivedMs = this.#clock.monotonic()
          if (signal.aborted) return
        }
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, 'the interests of admission were lost')
      }
      await sleep(this.#clock, 1_000, signal)
    }
  }
}

function matches(
  { phase, operations, groups, resources }: Interest,
  asked: string,
  { operation, group, resource, subresource }: Attributes,
): boolean {
  if (phase !== '*' && phase !== asked) return false
  if (!operations.includes('*') && !operations.includes(operation)) return false
  if (!groups.includes('*') && !groups.includes(group)) return false
  const full = subresource === '' ? resource : `${resource}/${subresource}`
  return resources.some((wanted) => wanted === '*/*' || wanted === full || (wanted === '*' && subresource === ''))
}
