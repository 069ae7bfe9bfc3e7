import { defineResource } from '../../../kind/define-resource.ts'
import { webhookCells } from '../../../table/cells/configuration.ts'
import { fillMutatingWebhooks } from '../../defaults/policy.ts'
import { warningsOfWebhooks } from '../../warnings/admission-warnings.ts'
import { admissionKind } from './admission-kinds.ts'

/** Webhooks that may change objects before they are stored. */
export const mutatingWebhookConfiguration = defineResource('admissionregistration.MutatingWebhookConfiguration', {
  ...admissionKind,
  defaults: fillMutatingWebhooks,
  warnings: warningsOfWebhooks,
  table: { cells: webhookCells, columns: ['Name', { name: 'Webhooks', type: 'integer' }, 'Age'] },
})
