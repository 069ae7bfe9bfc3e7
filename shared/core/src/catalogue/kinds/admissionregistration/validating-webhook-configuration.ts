import { defineResource } from '../../../kind/define-resource.ts'
import { webhookCells } from '../../../table/cells/configuration.ts'
import { fillValidatingWebhooks } from '../../defaults/policy.ts'
import { warningsOfWebhooks } from '../../warnings/admission-warnings.ts'
import { admissionKind } from './admission-kinds.ts'

/** Webhooks that may refuse requests but change nothing. */
export const validatingWebhookConfiguration = defineResource('admissionregistration.ValidatingWebhookConfiguration', {
  ...admissionKind,
  defaults: fillValidatingWebhooks,
  warnings: warningsOfWebhooks,
  table: { cells: webhookCells, columns: ['Name', { name: 'Webhooks', type: 'integer' }, 'Age'] },
})
