import {
  type Client,
  type EventDraft,
  isOfEndingNamespace,
  type ObjectReference,
  type PatchOptions,
  type ResourceClient,
  unlessRefused,
} from '@orch/client'
import { jsonEqual } from '@orch/core/json'
import { type ApiObject, StatusError } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import type { TimerOptions } from '@orch/platform'
import { keyOf, revisionOf } from '../informers/object-keys.ts'
import type { Reader } from '../informers/shared-informers.ts'
import type { Surroundings } from '../surroundings.ts'
import type { EventRecorder } from './events/recorder.ts'
import type { Expectations } from './expectations.ts'
import { inGrowingBatches } from './slow-start.ts'
import type { Caches, Watched } from './watches.ts'

/** One write of a decision, with the events that report it. */
export type Action = {
  /** The watch of its collection. */
  readonly in: Watched<ApiObject>
  /** The object to create, or the cached object. */
  readonly object: ApiObject
  /** Called with the created or patched object, or with the deleted one from the cache. */
  readonly succeeded?: (answer: ApiObject) => void
  /** Called with the message of a refusal. */
  readonly refused?: (message: string) => void
  /** Called instead of `succeeded` if another object has the name of the created one. */
  readonly existed?: () => void
} & (
  | { readonly kind: 'create' }
  | { readonly kind: 'delete' }
  | { readonly kind: 'patch'; readonly type: PatchOptions['type']; readonly patch: unknown }
)

/** The outcome of a pass. */
export type Result = { readonly kind: 'done' } | ({ readonly kind: 'requeue'; readonly delayMs: number } & TimerOptions)

/** No work remains until the next event. */
export const done: Result = { kind: 'done' }

/** Another pass follows after the delay, or earlier after an event. Passes that repeat by themselves are background work. */
export function requeueAfter(delayMs: number, options: TimerOptions = {}): Result {
  return { kind: 'requeue', delayMs, ...options }
}

export interface WorldOptions extends Pick<Surroundings, 'client' | 'names' | 'clock' | 'signal'> {
  /** The watch of the objects to reconcile. */
  readonly own: Watched<ApiObject> | undefined
  readonly caches: Caches
  readonly expectations: Expectations
  readonly recorder: EventRecorder
}

/** The inputs of a pass over one key: caches to read, and writes whose usual refusals are outcomes. */
export class World implements Caches {
  /** Requests without the caches. */
  readonly client: Client
  readonly names: Names
  readonly #ownerUid: string
  readonly #options: WorldOptions

  constructor(ownerUid: string, options: WorldOptions) {
    this.client = options.client
    this.names = options.names
    this.#ownerUid = ownerUid
    this.#options = options
  }

  read<T extends ApiObject>(watch: Watched<T>): Reader<T> {
    return this.#options.caches.read(watch)
  }

  collection<T extends ApiObject>(watch: Watched<T>): ResourceClient<T> {
    return this.client.resource<T>(watch.resource)
  }

  /** True while a cache does not show all creations and deletions of earlier passes. */
  get isPending(): boolean {
    const { clock, expectations } = this.#options
    return expectations.isPending(this.#ownerUid, clock.monotonic())
  }

  /**
   * Performs actions in order. Consecutive actions of one kind are performed together: creations in growing batches, deletions in parallel, patches one
   * by one. The events of `ownedBy` watches are expected first. A deleted object and a given name that exists are no errors, nor is a terminating
   * namespace, in which creations stop. After another error the following groups are skipped, and the first error is thrown.
   */
  async perform(actions: readonly Action[]): Promise<void> {
    for (const { kind, group } of groupNeighbours(actions)) {
      const errors = await this.#performGroup(kind, group)
      if (errors.length > 0) throw errors[0]
    }
  }

  /** Writes the status of an own object if it differs. After a conflict the pass is repeated. */
  async writeStatus<T extends ApiObject>(object: T, status: object, fieldManager?: string): Promise<Result> {
    if (jsonEqual(object['status'], status)) return done
    const { own, options } = this.#statusWrite(fieldManager)
    const { unanswered } = this.client.resource<T>(own.resource)
    await unlessRefused(['NotFound'], () => unanswered.update({ ...object, status }, options))
    return done
  }

  /** Writes the status of an own object, and returns the object with it. */
  async replaceStatus<T extends ApiObject>(object: T, status: object, fieldManager?: string): Promise<T> {
    const { own, options } = this.#statusWrite(fieldManager)
    return this.client.resource<T>(own.resource).update({ ...object, status }, options)
  }

  #statusWrite(fieldManager: string | undefined) {
    const { own, signal } = this.#options
    if (own === undefined) throw new Error('the controller has no objects of its own')
    return { own, options: { subresource: 'status', fieldManager, signal } }
  }

  /** Reports an event. It is written later, and a failure to write it has no effect. */
  record(about: ObjectReference, draft: EventDraft): void {
    this.#options.recorder.record(about, draft)
  }

  async #performGroup(kind: Action['kind'], group: readonly Action[]): Promise<readonly unknown[]> {
    switch (kind) {
      case 'create':
        return this.#createAll(group)
      case 'delete':
        return this.#deleteAll(group)
      case 'patch':
        return this.#patchAll(group)
    }
  }

  async #createAll(group: readonly Action[]): Promise<readonly unknown[]> {
    const { clock, expectations, signal } = this.#options
    const expectedCount = (some: readonly Action[]) => some.filter(isShownLater).length
    expectations.expectCreations(this.#ownerUid, expectedCount(group), clock.monotonic())
    const { triedCount, errors } = await inGrowingBatches(group, (action) =>
      this.#sendAction(action, {
        send: async () => {
          const created = await this.collection(action.in).create(action.object, { signal })
          if (isShownLater(action)) expectations.answerCreation(this.#ownerUid, revisionOf(created))
          return created
        },
        unexpect: () => expectations.failCreations(this.#ownerUid, expectedCount([action])),
      }),
    )
    expectations.failCreations(this.#ownerUid, expectedCount(group.slice(triedCount)))
    return errors.filter((error) => !isOfEndedNamespace(error))
  }

  async #deleteAll(group: readonly Action[]): Promise<readonly unknown[]> {
    const { clock, expectations, signal } = this.#options
    for (const action of group.filter(isShownLater)) expectations.expectDeletion(this.#ownerUid, keyOf(action.object), clock.monotonic())
    const results = await Promise.allSettled(
      group.map((action) => {
        const { name = '', namespace } = action.object.metadata
        return this.#sendAction(action, {
          send: async () => {
            await this.collection(action.in).unanswered.delete(name, { namespace, signal })
            return action.object
          },
          unexpect: () => expectations.showDeletion(this.#ownerUid, keyOf(action.object)),
        })
      }),
    )
    return results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  }

  async #patchAll(group: readonly Action[]): Promise<readonly unknown[]> {
    const { signal } = this.#options
    for (const action of group) {
      if (action.kind !== 'patch') continue
      const { name = '', namespace } = action.object.metadata
      const { type, patch } = action
      try {
        await this.#sendAction(action, { send: () => this.collection(action.in).patch(name, patch, { type, namespace, signal }) })
      } catch (error) {
        return [error]
      }
    }
    return []
  }

  async #sendAction({ kind, object, succeeded, refused, existed }: Action, { send, unexpect }: ActionRequest): Promise<void> {
    let answer: ApiObject
    try {
      answer = await send()
    } catch (error) {
      unexpect?.()
      if (!(error instanceof StatusError)) throw error
      if (error.reason === 'AlreadyExists' && object.metadata.name !== undefined) return existed?.()
      if (error.reason === 'NotFound' && kind !== 'create') return
      if (!isOfEndedNamespace(error)) refused?.(error.message)
      throw error
    }
    succeeded?.(answer)
  }
}

interface ActionRequest {
  send(): Promise<ApiObject>
  /** Removes the expectation of a request without an effect. */
  unexpect?(): void
}

interface ActionGroup {
  readonly kind: Action['kind']
  readonly group: Action[]
}

function groupNeighbours(actions: readonly Action[]): readonly ActionGroup[] {
  const groups: ActionGroup[] = []
  for (const action of actions) {
    const last = groups.at(-1)
    if (last?.kind === action.kind) last.group.push(action)
    else groups.push({ kind: action.kind, group: [action] })
  }
  return groups
}

/** Only events of owned objects name their owner. */
function isShownLater(action: Action): boolean {
  return action.in.kind === 'ownedBy'
}

/** The namespace of a creation is being deleted or gone. */
function isOfEndedNamespace(error: unknown): boolean {
  return error instanceof StatusError && (error.reason === 'NotFound' || isOfEndingNamespace(error))
}

/** One pass of a controller over an object. */
export interface Pass {
  readonly world: World
  /** Minor version of the release. */
  readonly level: number
  readonly signal: AbortSignal
}
