import { createHmac } from 'node:crypto'
import type { ApiObject } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { requireType } from '@orch/core/schema'
import { readBootstrapSecret } from '@orch/core/tokens'
import { done, mapped, own, reconciler } from '../reconciler/index.ts'
import { bootstrapSecrets } from './bootstrap-secrets.ts'

const clusterInfo = 'cluster-info'
const signedKey = 'kubeconfig'
const signaturePrefix = 'jws-kubeconfig-'

/**
 * Signs the content of the public ConfigMap with every bootstrap token for signing, so that the holder of a token
 * can verify it.
 */
export const bootstrapSigner = reconciler('bootstrapsigner', ({ names }) => {
  const select = { namespace: names.publicNamespace, fieldSelector: `metadata.name=${clusterInfo}` }
  const maps = own('v1', 'configmaps', { select })
  const tokens = mapped('v1', 'secrets', () => [`${names.publicNamespace}/${clusterInfo}`], bootstrapSecrets(names))
  return {
    watches: [maps, tokens],
    workersMax: 1,
    reconcile: async ({ object: map, world, clock, signal }) => {
      const data = decideData(map, { tokens: world.read(tokens).values(), names, nowMs: clock.now() })
      if (data !== undefined) await world.collection(maps).update({ ...map, data }, { signal })
      return done
    },
  }
})

interface Signing {
  readonly tokens: Iterable<ApiObject>
  readonly names: Names
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

/** The data of the ConfigMap with a signature for each signing token; undefined if it is current. */
export function decideData(map: ApiObject, signing: Signing): Readonly<Record<string, string>> | undefined {
  const data = requireType('core/v1.ConfigMap', map).data ?? {}
  const wanted = signaturesOf(data[signedKey] ?? '', signing)
  const present = Object.keys(data).filter((key) => key.startsWith(signaturePrefix))
  if (present.length === wanted.size && present.every((key) => wanted.get(key) === data[key])) return undefined
  const others = Object.entries(data).filter(([key]) => !key.startsWith(signaturePrefix))
  return { ...Object.fromEntries(others), ...Object.fromEntries(wanted) }
}

/** Signatures by their key in the ConfigMap. */
function signaturesOf(text: string, { tokens, names, nowMs }: Signing): Map<string, string> {
  const signatures = new Map<string, string>()
  if (text === '') return signatures
  for (const object of tokens) {
    const reading = readBootstrapSecret(names, object)
    if (reading.kind === 'malformed' || object.metadata.deletionTimestamp != null) continue
    const { id, secret, maySign, expiresMs } = reading.secret
    if (maySign && (expiresMs === undefined || expiresMs > nowMs)) signatures.set(signaturePrefix + id, detachedSignature(text, id, secret))
  }
  return signatures
}

/** A signature without its content: `<head>..<signature>`. */
function detachedSignature(text: string, id: string, secret: string): string {
  const head = Buffer.from(JSON.stringify({ alg: 'HS256', kid: id })).toString('base64url')
  const payload = Buffer.from(text).toString('base64url')
  return `${head}..${createHmac('sha256', secret).update(`${head}.${payload}`).digest('base64url')}`
}
