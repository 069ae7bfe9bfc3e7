import { validateResourceDefinition, validateResourceDefinitionStatus } from '../../../definitions/validate-definition.ts'
import { warningsOfDefinition } from '../../../definitions/warnings.ts'
import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { fillCustomResourceDefinition } from '../../defaults/policy.ts'

/** Adds a custom resource to the API. It must be named plural.group. */
export const customResourceDefinition = defineResource({
  versions: [{ type: 'apiextensions/v1.CustomResourceDefinition' }],
  plural: 'customresourcedefinitions',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  scope: 'Cluster',
  subresources: [statusSubresource],
  storageVersionHash: 'jfWCUB31mvA=',
  takesBareFinalizers: true,
  replacesUnconditionally: false,
  countsGenerations: true,
  defaults: fillCustomResourceDefinition,
  validation: { main: validateResourceDefinition, status: validateResourceDefinitionStatus },
  warnings: warningsOfDefinition,
})
