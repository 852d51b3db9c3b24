/* SPDX-License-Identifier: Apache-2.0 */
/* The block vault/live in the editor: it encloses other blocks. vault-live.php renders it. */
(() => {
  'use strict';
  const { blocks, blockEditor, components, element } = window.wp;
  const h = element.createElement;

  blocks.registerBlockType('vault/live', {
    apiVersion: 2,
    title: 'Live',
    description: 'Shows the blocks in it anew, in every open browser, when something has changed.',
    category: 'widgets',
    icon: 'update',
    attributes: { on: { type: 'string', default: 'posts' } },
    supports: { html: false },
    edit({ attributes, setAttributes }) {
      const on = h(components.TextControl, {
        label: 'When this changes',
        help: 'posts, comments, or names that code of the site notifies; several with spaces between',
        value: attributes.on,
        onChange: (value) => setAttributes({ on: value }),
      });
      return h('div', blockEditor.useBlockProps(),
        h(blockEditor.InspectorControls, null, h(components.PanelBody, { title: 'Live' }, on)),
        h(blockEditor.InnerBlocks));
    },
    save: () => h(blockEditor.InnerBlocks.Content),
  });
})();
