import { defineResource } from '../../../kind/define-resource.ts'
import { fillLimitRange } from '../../defaults/policy.ts'
import { validateLimitRange } from '../../validation/limit-range.ts'

/** Bounds and defaults for the requests of a namespace's objects. */
export const limitRange = defineResource('core.LimitRange', {
  shortNames: ['limits'],
  scope: 'Namespaced',
  rechecksName: true,
  createsOnUpdate: true,
  defaults: fillLimitRange,
  validation: { main: validateLimitRange },
})
