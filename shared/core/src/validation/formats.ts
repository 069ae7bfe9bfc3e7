import { explain } from '@orch/cel/name-formats'
import type { TextFormat } from '../description/node.ts'
import type { LevelText } from '../meta/level-text.ts'
import {
  checkLabel,
  checkLabel1035,
  checkLabelValue,
  checkLongName,
  checkPathSegment,
  checkQualifiedName,
  checkSubdomain,
} from '../meta/validate-names.ts'
import { checkCaselessDriverName, checkDriverName, checkInterfaceAddress, checkUuid } from './device-texts.ts'
import { checkCanonicalCidr } from './ip-address.ts'
import { checkDataKey, checkPortName } from './texts.ts'

const variablePattern = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/
const wrongVariable = explain(
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
  ['my.env-name', 'MY_ENV.NAME', 'MyEnvName1'],
  '[-._a-zA-Z][-._a-zA-Z0-9]*',
)

function checkVariableName(name: string): readonly string[] {
  const problems = variablePattern.test(name) ? [] : [wrongVariable]
  if (name === '.' || name === '..') problems.push(`must not be '${name}'`)
  else if (name.startsWith('..')) problems.push("must not start with '..'")
  return problems
}

const wrongRelaxedVariable = "a valid environment variable name must consist only of printable ASCII characters other than '='"

/** The rule since 1.32. */
function checkRelaxedVariableName(name: string): readonly string[] {
  return /^[ -<>-~]+$/.test(name) ? [] : [wrongRelaxedVariable]
}

/** The formats of iSCSI names, by their prefix. */
const iscsiNames: Readonly<Record<string, RegExp>> = {
  // Names of iSCSI have at most 223 characters; without bounds each `iqn.` of a long text would be read to its end.
  iqn: /iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]{1,253}:[^,;*&$|\s]{1,253}$/,
  eui: /^eui.[A-Za-z0-9]{16}$/,
  naa: /^naa.[A-Za-z0-9]{32}$/,
}

/** The name of an iSCSI initiator or target. */
export function checkIscsiName(name: string): readonly string[] {
  const form = iscsiNames[name.slice(0, 3)]
  if (form === undefined) return ['must be valid format starting with iqn, eui, or naa']
  return form.test(name) ? [] : ['must be valid format']
}

/** Like `checkIscsiName`, for a PersistentVolume, with all errors in one text. */
export function checkStoredIscsiName(name: string): readonly string[] {
  return checkIscsiName(name).length === 0 ? [] : ['must be valid format']
}

const reasonFormat = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?'
const reasonPattern = new RegExp(`^${reasonFormat}$`)
const wrongReason =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must " +
  "end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', " +
  `regex used for validation is '${reasonFormat}')`

/** The errors of a text with a format; empty if valid. */
export const textChecks: Readonly<Record<TextFormat, (text: string) => readonly LevelText[]>> = {
  label: checkLabel,
  label1035: checkLabel1035,
  subdomain: checkSubdomain,
  longName: checkLongName,
  qualifiedName: checkQualifiedName,
  labelValue: checkLabelValue,
  pathSegment: checkPathSegment,
  dataKey: checkDataKey,
  portName: checkPortName,
  canonicalCidr: checkCanonicalCidr,
  variableName: checkVariableName,
  relaxedVariableName: checkRelaxedVariableName,
  iscsiName: checkIscsiName,
  storedIscsiName: checkStoredIscsiName,
  reason: (reason) => (reasonPattern.test(reason) ? [] : [wrongReason]),
  driverName: checkDriverName,
  caselessDriverName: checkCaselessDriverName,
  interfaceAddress: checkInterfaceAddress,
  uuid: checkUuid,
}
