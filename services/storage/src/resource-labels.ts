/** `core/pods` for `core/pods/default/a`, and for any other prefix of keys. */
export function resourcePrefix(key: string): string {
  return key.split('/', 2).join('/')
}

/** Group and resource of keys, as metrics name them: the core group is ''. */
export function resourceLabels(key: string): { readonly group: string; readonly resource: string } {
  const [group = '', resource = ''] = key.split('/', 2)
  return { group: group === 'core' ? '' : group, resource }
}
