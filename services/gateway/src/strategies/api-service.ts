import type { RulesOf } from './kind-rules.ts'

/** What this server itself serves is available from the beginning; whether another server is, is judged afterwards. */
export const apiServiceStrategy: RulesOf<'apiregistration/v1.APIService'> = {
  prepareCreate(object) {
    if (object.spec.service) return
    const lastTransitionTime = object.metadata.creationTimestamp ?? null
    const message = 'Local APIServices are always available'
    object.status = { conditions: [{ type: 'Available', status: 'True', lastTransitionTime, reason: 'Local', message }] }
  },
}
