/** Group and resource of keys, as metrics name them: the core group is ''. */
export function resourceLabels(key: string): { readonly group: string; readonly resource: string } {
  const [group = '', resource = ''] = key.split('/', 2)
  return { group: group === 'core' ? '' : group, resource }
}
