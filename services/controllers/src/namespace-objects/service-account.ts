import type { Controller } from '../controller.ts'
import { namespaceObjectController } from './namespace-objects.ts'

/** Gives every namespace its service account `default`. */
export const serviceAccountController: Controller = namespaceObjectController({
  controller: 'serviceaccount',
  resource: { group: '', version: 'v1', plural: 'serviceaccounts', namespaced: true },
  wanted: () => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }),
  // What is in it is its users' business.
  mended: () => undefined,
})
