import { domainGroup } from '@orch/core/names'
import type { Attachment } from '@orch/core/workloads'
import { type Following, follow, queueOf, unlessOutdated } from './following.ts'

/** The attacher of the simulated driver: attaches and detaches volumes at once (NODE-VOL-11). */
export function startAttacher(options: Omit<Following, 'signal'>): { stop(): Promise<void> } {
  const { names, client, log } = options
  const ending = new AbortController()
  const { signal } = ending
  const following = { ...options, signal }
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
      unlessOutdated(attachments.patch(name, { metadata: { resourceVersion, finalizers: next } }, { type: 'merge', signal }))
    if (deletionTimestamp != null) return isHeld ? setFinalizers(finalizers.filter((one) => one !== finalizer)) : undefined
    // Its event brings the next step.
    if (!isHeld) return setFinalizers([...finalizers, finalizer])
    if (found.status.attached) return
    const status = { attached: true, attachError: null }
    return unlessOutdated(attachments.patch(name, { status }, { type: 'merge', subresource: 'status', signal }))
  }
  const queue = queueOf(following, {
    name: 'attacher',
    workersMax: 5,
    work: async (key) => void (await sync(key)),
    problem: 'a volume could not be attached yet',
  })
  const informer = follow(following, {
    resource: attachments,
    onEvent: ({ kind, object }) => {
      if (kind !== 'deleted') queue.add(object.metadata.name ?? '')
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
