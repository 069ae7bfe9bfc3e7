import type { Controller } from '../controller.ts'
import { namespaceObjectController } from './namespace-objects.ts'

/** Gives every namespace its service account `default`. */
export const serviceAccountController: Controller = namespaceObjectController({
  controller: 'serviceaccount',
  plural: 'serviceaccounts',
  wanted: () => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }),
  // Its content belongs to its users.
  mended: () => undefined,
})
