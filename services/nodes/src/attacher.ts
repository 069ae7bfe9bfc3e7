import { type Client, startInformer } from '@orch/client'
import { type ApiObject, StatusError } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import type { Attachment } from '@orch/core/workloads'
import { type Clock, createWorkqueue, type Log, sleep, type WorkqueueMetrics } from '@orch/platform'

export interface AttacherOptions {
  readonly names: Names
  /** A client that may write VolumeAttachments and their status. */
  readonly client: Client
  readonly clock: Clock
  /** A number in [0, 1). */
  readonly random: () => number
  readonly log: Log
  readonly queues: WorkqueueMetrics
}

/** The attacher of the simulated driver: attaches and detaches volumes at once (NODE-VOL-11). */
export function startAttacher({ names, client, clock, random, log, queues }: AttacherOptions): { stop(): Promise<void> } {
  const ending = new AbortController()
  const { signal } = ending
  const finalizer = `external-attacher/${names.simulatedDriver.replaceAll('.', '-')}`
  const attachments = client.resource<Attachment>({
    group: domainGroup(names, 'storage'),
    version: 'v1',
    plural: 'volumeattachments',
    namespaced: false,
  })
  const sync = async (name: string) => {
    const found = informer.get(name)
    if (found === undefined || found.spec.attacher !== names.simulatedDriver) return
    const { deletionTimestamp, finalizers = [], resourceVersion } = found.metadata
    const isHeld = finalizers.includes(finalizer)
    const setFinalizers = (next: readonly string[]) =>
      unlessOutdated(() => attachments.patch(name, { metadata: { resourceVersion, finalizers: next } }, { type: 'merge', signal }))
    if (deletionTimestamp != null) return isHeld ? setFinalizers(finalizers.filter((one) => one !== finalizer)) : undefined
    // Its event brings the next step.
    if (!isHeld) return setFinalizers([...finalizers, finalizer])
    if (found.status.attached) return
    const status = { attached: true, attachError: null }
    return unlessOutdated(() => attachments.patch(name, { status }, { type: 'merge', subresource: 'status', signal }))
  }
  const queue = createWorkqueue({
    name: 'attacher',
    metrics: queues,
    work: sync,
    onError: (key, err, failures) => log[failures < 3 ? 'debug' : 'warn']({ key, err, failures }, 'a volume could not be attached yet'),
    clock,
    random,
    signal,
    workersMax: 5,
  })
  const informer = startInformer<Attachment>({
    resource: attachments,
    signal,
    sleep: (delayMs, aborting) => sleep(clock, delayMs, aborting),
    random,
    onEvent: ({ kind, object }) => {
      if (kind !== 'deleted') queue.add(nameOf(object))
    },
    onError: (err) => log.debug({ err }, 'VolumeAttachments are listed or watched again'),
  })
  return {
    async stop() {
      ending.abort()
      await informer.done
      await queue.close()
      client.close()
    },
  }
}

function nameOf({ metadata: { name = '' } }: ApiObject): string {
  return name
}

/** An object that has changed or is gone brings another event. */
async function unlessOutdated(request: () => Promise<unknown>): Promise<void> {
  try {
    await request()
  } catch (error) {
    if (!(error instanceof StatusError) || (error.reason !== 'Conflict' && error.reason !== 'NotFound')) throw error
  }
}
