import type { Controller } from '../controller.ts'
import { namespaceObjectController } from './namespace-objects.ts'

/** Creates the service account `default` in every namespace. */
export const serviceAccountController: Controller = namespaceObjectController({
  controller: 'serviceaccount',
  plural: 'serviceaccounts',
  wanted: () => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }),
  // Users own its content.
  mended: () => undefined,
})
