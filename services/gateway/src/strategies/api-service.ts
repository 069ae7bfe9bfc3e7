import type { RulesOf } from './kind-rules.ts'

/** Local group versions are available from the beginning; a remote server is probed afterwards. */
export const apiServiceStrategy: RulesOf<'apiregistration/v1.APIService'> = {
  prepareCreate(object) {
    if (object.spec.service) return
    const lastTransitionTime = object.metadata.creationTimestamp ?? null
    const message = 'Local APIServices are always available'
    object.status = { conditions: [{ type: 'Available', status: 'True', lastTransitionTime, reason: 'Local', message }] }
  },
}
