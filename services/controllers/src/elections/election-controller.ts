import { unlessRefused } from '@orch/client'
import { printMicroTime, toInstant } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { type Controller, done, mapped, reconciler, requeueAfter } from '../reconciler/index.ts'
import { type Candidate, decideElection, electionMs, isGone, type Lease } from './election.ts'

/** The version of LeaseCandidates that the controller of a level reads. */
export function candidatesVersion(level: number): string {
  return level < 33 ? 'v1alpha2' : 'v1beta1'
}

/** Elects the holders of Leases among their LeaseCandidates (gate CoordinatedLeaderElection), and deletes candidates that are gone. */
export const electionController = (level: number): Controller =>
  reconciler('leader-election', ({ names }) => {
    const group = domainGroup(names, 'coordination')
    const candidates = mapped<Candidate>(`${group}/${candidatesVersion(level)}`, 'leasecandidates', ({ object: { metadata, spec } }) =>
      // The controller waits for a candidate that was asked.
      spec.pingTime != null && Date.parse(spec.renewTime ?? '') < Date.parse(spec.pingTime)
        ? []
        : [`${metadata.namespace}/${spec.leaseName}`],
    )
    const leases = mapped<Lease>(`${group}/v1`, 'leases', ({ object: { metadata } }) => [`${metadata.namespace}/${metadata.name}`])
    return {
      watches: [candidates, leases],
      reconcile: async ({ key, world, clock, signal }) => {
        const [namespace = '', name = ''] = key.split('/')
        const all = [...world.read(candidates).values()].filter(
          (one) => one.metadata.namespace === namespace && one.spec.leaseName === name,
        )
        if (all.length === 0) return done
        const now = clock.now()
        const present = all.filter((one) => !isGone(one, now))
        await world.perform(all.filter((one) => !present.includes(one)).map((object) => ({ kind: 'delete', in: candidates, object })))
        const lease = world.read(leases).get(key)
        const step = decideElection(lease, present, now)
        const again = requeueAfter(electionMs, { background: true })
        const write = (update: () => Promise<unknown>) => unlessRefused(['AlreadyExists', 'Conflict', 'NotFound'], update)
        switch (step.kind) {
          case 'wait':
            return again
          case 'stop':
            return present.length === 0 ? done : again
          case 'ask': {
            const pingTime = printMicroTime(toInstant(now))
            const collection = world.collection(candidates)
            await Promise.all(
              step.candidates.map((one) => write(() => collection.update({ ...one, spec: { ...one.spec, pingTime } }, { signal }))),
            )
            return again
          }
          case 'elect': {
            const collection = world.collection(leases)
            await write(() =>
              lease === undefined
                ? collection.create(
                    { apiVersion: `${group}/v1`, kind: 'Lease', metadata: { namespace, name }, spec: step.spec },
                    { signal },
                  )
                : collection.update({ ...lease, spec: step.spec }, { signal }),
            )
            return again
          }
        }
      },
    }
  })
