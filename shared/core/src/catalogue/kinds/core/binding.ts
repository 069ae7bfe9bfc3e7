import { defineResource } from '../../../kind/define-resource.ts'

/** Ties one object to another, as the scheduler does with a pod and its node. Made through the binding subresource of the pod. */
export const binding = defineResource('core.Binding', {
  scope: 'Namespaced',
  answeredBy: 'binding',
})
