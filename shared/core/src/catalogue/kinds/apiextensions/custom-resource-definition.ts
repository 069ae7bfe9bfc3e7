import { validateResourceDefinition, validateResourceDefinitionStatus } from '../../../definitions/validate-definition.ts'
import { warningsOfDefinition } from '../../../definitions/warnings.ts'
import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { definitionCells } from '../../../table/cells/configuration.ts'
import { fillCustomResourceDefinition } from '../../defaults/policy.ts'

/** Adds a custom resource to the API. It must be named plural.group. */
export const customResourceDefinition = defineResource('apiextensions.CustomResourceDefinition', {
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  scope: 'Cluster',
  subresources: [statusSubresource],
  storageVersion: 'v1beta1',
  takesBareFinalizers: true,
  replacesUnconditionally: false,
  countsGenerations: true,
  defaults: fillCustomResourceDefinition,
  validation: { main: validateResourceDefinition, status: validateResourceDefinitionStatus },
  warnings: warningsOfDefinition,
  table: {
    cells: definitionCells,
    columns: [
      'Name',
      { name: 'Scope', since: 37, description: 'Namespaced or Cluster.' },
      { name: 'Versions', since: 37, description: 'Served versions.' },
      { name: 'Created At', type: 'date' },
      { name: 'Group', priority: 1, since: 37, description: 'API group of the resource.' },
      { name: 'Kind', priority: 1, since: 37, description: 'Kind of the objects.' },
      { name: 'ShortNames', priority: 1, since: 37, description: 'Short names of the resource.' },
      { name: 'Established', type: 'boolean', priority: 1, since: 37, description: 'True if the resource is served.' },
    ],
  },
})
