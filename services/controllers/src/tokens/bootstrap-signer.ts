import { createHmac } from 'node:crypto'
import { type ResourceAddress, startInformer } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { requireType } from '@orch/core/schema'
import { readBootstrapSecret } from '@orch/core/tokens'
import { createWorkqueue, sleep } from '@orch/platform'
import type { Controller, ControllerContext } from '../controller.ts'
import { startBootstrapSecretInformer } from './bootstrap-secrets.ts'

const configMaps: ResourceAddress = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const clusterInfo = 'cluster-info'
const signedKey = 'kubeconfig'
const signaturePrefix = 'jws-kubeconfig-'

/**
 * Signs the content of the public ConfigMap with every bootstrap token that is meant for signing, so that the holder of a token
 * can tell that it is true.
 */
export const bootstrapSigner: Controller = {
  name: 'bootstrapsigner',
  async run(context) {
    const { client, names, queues, clock, random, log, signal } = context
    const namespace = names.publicNamespace
    const signAll = async (): Promise<void> => {
      await Promise.race([Promise.all([tokens.synced, informer.synced]), informer.done])
      if (signal.aborted) return
      const map = informer.get(clusterInfo, namespace)
      if (map === undefined) return
      const data = requireType('core/v1.ConfigMap', map).data ?? {}
      const wanted = signaturesOf(data[signedKey] ?? '', tokens.values(), context)
      const present = Object.keys(data).filter((key) => key.startsWith(signaturePrefix))
      const isSame = present.length === wanted.size && present.every((key) => wanted.get(key) === data[key])
      if (isSame) return
      const others = Object.entries(data).filter(([key]) => !key.startsWith(signaturePrefix))
      await client
        .resource(configMaps)
        .update({ ...map, data: { ...Object.fromEntries(others), ...Object.fromEntries(wanted) } }, { signal })
    }
    const queue = createWorkqueue({
      name: 'bootstrapsigner',
      metrics: queues,
      work: signAll,
      onError: (_name, error) => log.debug({ err: error }, 'the public ConfigMap could not be signed yet'),
      clock,
      random,
      signal,
      workersMax: 1,
    })
    const tokens = startBootstrapSecretInformer(context, () => queue.add(clusterInfo))
    const informer = startInformer({
      resource: client.resource(configMaps),
      select: { namespace, fieldSelector: `metadata.name=${clusterInfo}` },
      signal,
      sleep: (delayMs, ending) => sleep(clock, delayMs, ending),
      random,
      onEvent: () => queue.add(clusterInfo),
      onError: (error) => log.debug({ err: error }, 'the public ConfigMap is listed or watched again'),
    })
    await Promise.all([tokens.done, informer.done])
    await queue.close()
  },
}

/** A signature for each token that is good for it, by the key that it stands under. */
function signaturesOf(text: string, tokens: readonly ApiObject[], { names, clock }: ControllerContext): Map<string, string> {
  const signatures = new Map<string, string>()
  if (text === '') return signatures
  for (const object of tokens) {
    const reading = readBootstrapSecret(names, object)
    if (reading.kind === 'malformed' || object.metadata.deletionTimestamp != null) continue
    const { id, secret, maySign, expiresMs } = reading.secret
    if (maySign && (expiresMs === undefined || expiresMs > clock.now()))
      signatures.set(signaturePrefix + id, detachedSignature(text, id, secret))
  }
  return signatures
}

/** A signature that leaves out what it signs: `<head>..<signature>`. */
function detachedSignature(text: string, id: string, secret: string): string {
  const head = Buffer.from(JSON.stringify({ alg: 'HS256', kid: id })).toString('base64url')
  const payload = Buffer.from(text).toString('base64url')
  return `${head}..${createHmac('sha256', secret).update(`${head}.${payload}`).digest('base64url')}`
}
