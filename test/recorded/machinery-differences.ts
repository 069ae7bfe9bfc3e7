/** Recorded cases that this server answers otherwise, the reason, and the allowed differences. */
export const otherwise: readonly { readonly reason: string; readonly allows: RegExp; readonly cases: readonly string[] }[] = [
  {
    reason: 'What a client does wrong is a 400 with a reason here, and a bare 500 there.',
    allows: /^(?:status 400 instead of 500|body\.(?:reason|code|details)|message without failed to (?:create typed|convert new object))/,
    cases: [
      'yaml: apply: no for a text',
      'times: apply of renewTime in milliseconds',
      'patchrv: merge patch, resourceVersion "abc"',
      'patchrv: strategic patch, resourceVersion "abc"',
      'patchrv: apply, resourceVersion "abc"',
      'patchrv: PUT, resourceVersion "abc"',
      'patchrv: apply of an absent object, resourceVersion "abc"',
      'patchrv: merge patch, resourceVersion "-1"',
      'patchrv: JSON patch, resourceVersion "-1"',
      'patchrv: apply, resourceVersion "-1"',
      'patchrv: custom: merge patch, resourceVersion "-1"',
      'patchrv: apply of an absent object, resourceVersion "-1"',
      'patchrv: merge patch, resourceVersion "0x10"',
      'patchrv: JSON patch, resourceVersion "0x10"',
      'patchrv: apply, resourceVersion "0x10"',
      'patchrv: custom: merge patch, resourceVersion "0x10"',
      'patchrv: apply of an absent object, resourceVersion "0x10"',
      'patchrv: PUT, resourceVersion "18446744073709551616"',
      'patchrv: custom: merge patch, resourceVersion "18446744073709551616"',
      'patchrv: PUT, resourceVersion "1.5"',
      'patchrv: custom: merge patch, resourceVersion "1.5"',
      'patchrv: PUT, resourceVersion " 1"',
      'patchrv: custom: merge patch, resourceVersion " 1"',
      'queries: get ?resourceVersion=abc',
    ],
  },
  {
    reason: 'The text is that of a newer level: values are printed as JSON, not as Go prints them.',
    allows: /^(?:message without|body\.details)/,
    cases: [
      'claims: both, unlike',
      'claims: dataSource Secret, dataSourceRef claim',
      'claims: merge patch adds a dataSource claim',
      'clusterns: csinodes: PUT with metadata.namespace',
      'clusterns: volumeattachments: PUT with metadata.namespace',
      'clusterns: runtimeclasses: PUT with metadata.namespace',
      'clusterns: validatingwebhookconfigurations: PUT with metadata.namespace',
      'clusterns: apiservices: PUT with metadata.namespace',
      'patchrv: custom: merge patch, resourceVersion "0"',
      'more: two controllers',
      'queries: POST ?dryRun=All&dryRun=x',
      'queries: POST ?dryRun=&dryRun=All',
      'queries: POST ?dryRun=all',
      'queries: POST ?dryRun=',
      'queries: POST ?dryRun=All,All',
      'queries: POST ?fieldManager=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
      'queries: DELETE ?dryRun=&dryRun=All',
      'queries: DELETE ? {"dryRun":["All","x"]}',
      'queries: deletecollection ?dryRun=&dryRun=All',
      'queries: merge patch ?dryRun=All&dryRun=x',
    ],
  },
  {
    reason: 'The text names a file of the sources.',
    allows: /^message without/,
    cases: ['texts: kind of another case', 'queries: DELETE ? {"kind":"Bogus","apiVersion":"v1"}'],
  },
  {
    reason: 'The text is that of a library that reads patches.',
    allows: /^message without invalid JSON patch/,
    cases: ['patchrv: merge patch, empty'],
  },
  {
    reason: 'An unsafe deletion of an object that can be read is a conflict from level 1.32 on.',
    allows: /^(?:status 422 instead of 409|body\.|message without)/,
    cases: [
      'queries: DELETE ?ignoreStoreReadErrorWithClusterBreakingPotential=true',
      'queries: DELETE ?ignoreStoreReadErrorWithClusterBreakingPotential=true&dryRun=All',
      'queries: DELETE ? {"ignoreStoreReadErrorWithClusterBreakingPotential":true}',
    ],
  },
]

/** The reason and the allowed differences of a case that is answered otherwise; undefined for others. */
export function otherwiseOf(name: string): (typeof otherwise)[number] | undefined {
  return otherwise.find(({ cases }) => cases.includes(name))
}
