import { type ResourceClient, unlessGone } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import type { Pod, SchedulingRules } from '@orch/core/scheduling'
import { type ConditionDraft, conditionPatch } from '@orch/core/workloads'
import { aboutObject, type ControllerContext } from '../reconciler/index.ts'
import { type SchedulingEvent, SeriesRecorder } from './event-series.ts'

const podKind = { apiVersion: 'v1', kind: 'Pod' }
const podsAddress = { group: '', version: 'v1', plural: 'pods', namespaced: true }

export interface PodWriterOptions {
  readonly rules: SchedulingRules
  /** Name of this host, for events. */
  readonly host: string
}

/** The end of an attempt without a node. */
interface RefusedPod {
  readonly reason: 'Unschedulable' | 'SchedulerError'
  readonly message: string
  /** The nominated node. Empty for none; undefined for no change. */
  readonly nominated: string | undefined
}

/** The scheduler's writes of Pods. */
export class PodWriter {
  readonly #context: ControllerContext
  readonly #options: PodWriterOptions
  readonly #recorder: SeriesRecorder

  constructor(context: ControllerContext, options: PodWriterOptions) {
    this.#context = context
    this.#options = options
    this.#recorder = new SeriesRecorder({ ...context, host: options.host })
  }

  /** Reports an event. It is written later, and a failure to write it has no effect. */
  report(
    pod: Pod,
    event: Pick<SchedulingEvent, 'type' | 'reason' | 'action' | 'note'>,
    { related, reporter = pod.spec.schedulerName ?? '' }: { readonly related?: Pod; readonly reporter?: string } = {},
  ): void {
    this.#recorder.record({
      ...event,
      regarding: aboutObject(podKind, pod),
      ...(related && { related: aboutObject(podKind, related) }),
      reporter,
    })
  }

  /** Binds the Pod to a node (SCHED-14). */
  async bind({ metadata: { name = '', namespace, uid } }: Pod, node: string): Promise<void> {
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace, uid }, target: { kind: 'Node', name: node } }
    await this.#pods.unanswered.create(binding, { subresource: 'binding', signal: this.#context.signal })
  }

  /** Writes the condition and the nomination of an unscheduled Pod if they differ (SCHED-17, SCHED-64). */
  async refuse(pod: Pod, { reason, message, nominated }: RefusedPod): Promise<void> {
    const isNominationNews = nominated !== undefined && nominated !== (pod.status.nominatedNodeName ?? '')
    const status = {
      ...this.#conditionPatch(pod, { type: 'PodScheduled', status: 'False', reason, message }),
      ...(isNominationNews && { nominatedNodeName: nominated || null }),
    }
    if (Object.keys(status).length > 0) await this.setStatus(pod, status)
  }

  /** Writes the node on which a Pod will be bound. */
  async nominate(pod: Pod, node: string): Promise<void> {
    if (pod.status.nominatedNodeName !== node) await this.setStatus(pod, { nominatedNodeName: node })
  }

  /** Evicts a Pod for one of higher priority (SCHED-63). False: it could not be deleted. */
  async evict(victim: Pod, preemptor: Pod, node: string): Promise<boolean> {
    const { rules } = this.#options
    const { name = '', namespace, uid } = victim.metadata
    const reason = 'PreemptionByScheduler'
    const message = `${preemptor.spec.schedulerName}: preempting to accommodate a higher priority pod`
    const condition = rules.marksVictims && this.#conditionPatch(victim, { type: 'DisruptionTarget', status: 'True', reason, message })
    if (condition) await this.setStatus(victim, condition)
    const { log, signal } = this.#context
    try {
      const preconditions = { ...(uid !== undefined && { uid }) }
      await unlessGone(() => this.#pods.delete(name, { namespace, signal }, { preconditions }))
    } catch (err) {
      if (!signal.aborted) log.warn({ pod: `${namespace}/${name}`, err }, 'a Pod could not be deleted for a more important one')
      return false
    }
    const by = rules.namesPreemptor ? `pod ${preemptor.metadata.uid}` : 'a pod'
    const note = `Preempted by ${by} on node ${node}`
    const { schedulerName: reporter = '' } = preemptor.spec
    const about = { reporter, ...(!rules.reportsPlacement && { related: preemptor }) }
    this.report(victim, { type: 'Normal', reason: 'Preempted', action: 'Preempting', note }, about)
    return true
  }

  /** Patches the status of a Pod. Does nothing for a deleted Pod. */
  async setStatus({ metadata: { name = '', namespace } }: Pod, status: object): Promise<void> {
    const { log, signal } = this.#context
    try {
      await unlessGone(() => this.#pods.patch(name, { status }, { type: 'strategic', subresource: 'status', namespace, signal }))
    } catch (err) {
      if (!signal.aborted) log.warn({ pod: `${namespace}/${name}`, err }, 'the status of a Pod could not be written')
    }
  }

  /** Resolves when no event is pending. */
  close(): Promise<void> {
    return this.#recorder.close()
  }

  #conditionPatch(pod: Pod, draft: ConditionDraft): object | undefined {
    const generation = this.#options.rules.hasObservedGeneration ? pod.metadata.generation : undefined
    return conditionPatch(pod, draft, { nowMs: this.#context.clock.now(), generation })
  }

  get #pods(): ResourceClient<ApiObject> {
    return this.#context.client.resource<ApiObject>(podsAddress)
  }
}
