import { profiles } from '@orch/core/names'
import { settingsOf, settingTypes } from '@orch/platform'
import { generalSettings } from '../settings/general.ts'

const { bool, list, oneOf } = settingTypes
const setting = settingsOf('Validation')

/** All settings of `orch validate`. */
export const validateSettings = {
  config: generalSettings.config,
  logFormat: generalSettings.logFormat,
  profile: setting(
    { flag: '--profile', type: oneOf(['', ...profiles]), defaultDoc: 'that of the files' },
    'Names of API groups, labels and namespaces. By default orch where a file names one of its API groups, else kubernetes.',
  ),
  given: setting(
    { flag: '--given', env: 'ORCH_VALIDATE_GIVEN', type: list },
    'Files and folders with objects that are there already: definitions, namespaces with their pod security labels, quotas, limit ranges, policies with their bindings and parameters.',
  ),
  warningsAreErrors: setting(
    { flag: '--warnings-as-errors', env: 'ORCH_VALIDATE_WARNINGS_AS_ERRORS', type: bool, default: 'false' },
    'Warnings count as errors.',
  ),
  output: setting(
    { flag: '--output', env: 'ORCH_VALIDATE_OUTPUT', type: oneOf(['text', 'json']), default: 'text' },
    'json for machines: findings with file, line, severity, object and message.',
  ),
}
