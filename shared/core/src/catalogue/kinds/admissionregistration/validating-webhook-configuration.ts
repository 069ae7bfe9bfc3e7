import { defineResource } from '../../../kind/define-resource.ts'
import { webhookCells } from '../../../table/cells/configuration.ts'
import { fillValidatingWebhooks } from '../../defaults/policy.ts'
import { warningsOfWebhooks } from '../../warnings/admission-warnings.ts'

/** Webhooks that may refuse requests but change nothing. */
export const validatingWebhookConfiguration = defineResource('admissionregistration.ValidatingWebhookConfiguration', {
  categories: ['api-extensions'],
  scope: 'Cluster',
  rechecksName: true,
  takesBareFinalizers: true,
  replacesUnconditionally: false,
  countsGenerations: true,
  defaults: fillValidatingWebhooks,
  warnings: warningsOfWebhooks,
  table: { cells: webhookCells, columns: ['Name', { name: 'Webhooks', type: 'integer' }, 'Age'] },
})
