import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { Client } from '@orch/client'
import { bootstrap } from '@orch/controllers'
import type { Catalogue } from '@orch/core/catalogue'
import { printMicroTime, toInstant } from '@orch/core/meta'
import { domainGroup, domainLabel, subdomainLabel } from '@orch/core/names'
import type { Chance, Clock, Log } from '@orch/platform'

export interface IdentityLeaseNeeds {
  readonly client: Client
  readonly catalogue: Pick<Catalogue, 'names' | 'isGateOn'>
  readonly clock: Clock
  readonly chance: Chance
  readonly log: Log
}

/** kube-apiserver renews its Lease every 10 s; once in half the Lease's time keeps it valid, and an idle server idle. */
const [durationSeconds, renewMs] = [3600, 1_800_000]

/** Writes the Lease that identifies this server in the system namespace, and renews it. Returns a function that stops. */
export function keepIdentityLease({ client, catalogue, clock, chance, log }: IdentityLeaseNeeds): () => void {
  const { names, isGateOn } = catalogue
  if (!isGateOn('APIServerIdentity')) return () => {}
  const resource = { group: domainGroup(names, 'coordination'), version: 'v1', plural: 'leases', namespaced: true }
  const host = hostname()
  const name = identityOf(host)
  const holderIdentity = `${name}_${chance.uuid()}`
  const labels = { [subdomainLabel(names, 'apiserver', 'identity')]: names.serverManager, [domainLabel(names, 'hostname')]: host }
  const renew = async () => {
    const spec = { holderIdentity, leaseDurationSeconds: durationSeconds, renewTime: printMicroTime(toInstant(clock.now())) }
    const object = { apiVersion: `${resource.group}/v1`, kind: 'Lease', metadata: { name, namespace: names.systemNamespace, labels }, spec }
    await bootstrap(client, [{ resource, object }])
  }
  const tryToRenew = () => void renew().catch((err: unknown) => log.warn({ err }, 'the Lease of this server could not be written'))
  tryToRenew()
  const timer = clock.every(renewMs, tryToRenew)
  return () => timer.cancel()
}

/** The name that kube-apiserver has on the same machine: base32 of half a hash. */
function identityOf(host: string): string {
  const parts = [host, 'kube-apiserver'].map((text) => Buffer.from(`\0${String.fromCharCode(text.length)}${text}`))
  const bytes = createHash('sha256').update(Buffer.concat(parts)).digest().subarray(0, 16)
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits.match(/.{1,5}/g) ?? []
  return `apiserver-${digits.map((five) => 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')}`
}
