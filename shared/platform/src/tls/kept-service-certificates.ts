import { type ServiceRole, serviceRoles } from '@orch/core/contracts'
import type { Names } from '@orch/core/names'
import type { Clock } from '../clock.ts'
import { type CertificateFiles, coversNames, isFresh, isSignedBy, readPair } from './certificates.ts'
import type { KeyPair } from './key-pair.ts'
import { issueServiceAuthority, issueServiceCertificate } from './service-certificates.ts'

export interface KeptServiceCertificates {
  readonly files: CertificateFiles
  readonly names: Names
  /** Host names and addresses that all certificates contain. */
  readonly hostNames: readonly string[]
  readonly clock: Clock
}

/** Backends of services, whose certificates have no role. */
const backends = ['etcd', 'nats'] as const

/**
 * Makes certificates for the services of one machine, or reuses stored ones that are still valid: an authority `ca`, a
 * certificate named for each role, one for etcd and one for NATS.
 */
export async function keepServiceCertificates({ files, names, hostNames, clock }: KeptServiceCertificates): Promise<void> {
  const nowMs = clock.now()
  const keep = async (name: string, isGood: (pair: KeyPair) => boolean, make: () => Promise<KeyPair>) => {
    const kept = readPair(files, name)
    if (kept !== undefined && isGood(kept)) return kept
    const made = await make()
    files.write(`${name}.key`, made.key)
    files.write(`${name}.crt`, made.certificate)
    return made
  }
  const authority = await keep(
    'ca',
    (pair) => isFresh(pair, nowMs),
    () => issueServiceAuthority({ names, nowMs }),
  )
  const isGood = (pair: KeyPair) => isFresh(pair, nowMs) && isSignedBy(pair, authority) && coversNames(pair, hostNames)
  const forRole = (role: ServiceRole) => keep(role, isGood, () => issueServiceCertificate({ authority, names, role, hostNames, nowMs }))
  const forBackend = (name: string) =>
    keep(name, isGood, async () => (await import('./issue.ts')).issueServing({ authority, commonName: name, names: hostNames, nowMs }))
  await Promise.all([...serviceRoles.map(forRole), ...backends.map(forBackend)])
}
