<?php
// SPDX-License-Identifier: Apache-2.0
// What integrations/php makes of names, values and URLs that are no plain words. odd.mjs and odd.ru do the same.
declare(strict_types=1);

require_once __DIR__ . '/../../../integrations/php/Vault.php';

use ModVault\Vault;

const ODD = "k\u{e4}se, 50%;\"'=<&>";

const NEWEST = ['database', 'get_new_instances', ['table' => 'logs', 'limit' => 20]];

$vault = new Vault(null, $_SERVER['VAULT_KEY'], $_SERVER['VAULT_URL']);
$answer = '';
switch (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) {
    case '/odd/page':
        $vault->poll('/odd/news?list=a,b&path=%2F x')->set('Odd-Key', ODD)->set('gone', 'x')->set('gone', null)->set('number', 0);
        $answer = '<!doctype html><title>odd</title>';
        break;
    case '/odd/stream':
        $answer = '<!doctype html><title>odd</title><p>' . htmlspecialchars($vault->stream('/odd/news?list=a,b'));
        break;
    case '/odd/news':
        $vault->interest(ODD, 'second')->format('odd-1');
        if ($vault->changed('shown', file_get_contents($_SERVER['COMMENTS']))) {
            $answer = json_encode([
                'list' => $_GET['list'], 'path' => $_GET['path'], 'page' => $vault->page(),
                'odd' => $vault->get('ODD-KEY') === ODD, 'gone' => $vault->get('gone'), 'number' => $vault->get('number'),
            ]) . "\n" . Vault::append(ODD, '<b>') . Vault::prepend('x', 'y') . Vault::before('x', 'y') . Vault::after('x', 'y')
                . Vault::replace('x', 'y') . Vault::update('x', '') . Vault::remove('x') . Vault::refresh()
                . Vault::element('update', 'y', targets: '.x > "y"');
        }
        break;
    case '/odd/notify':
        $vault->notify('nobody', ODD);
        http_response_code(500);
        break;
    case '/odd/rows':
        $vault->poll('/odd/more');
        [$rows, $first] = $vault->feed(...NEWEST);
        $answer = '<!doctype html><title>rows</title>' . json_encode([$first, array_column($rows, 'line')]);
        break;
    case '/odd/more':
        [$rows, $first] = $vault->feed(...NEWEST);
        $answer = $rows === null ? '' : json_encode([$first, array_column($rows, 'line')]);
        break;
    case '/odd/save':
        $vault->feed('database', 'save', ['table' => 'logs', 'values' => ['line' => $_GET['line']]]);
        break;
    case '/odd/refused':
        try {
            $vault->feed('database', 'get_new_instances', ['table' => 'none']);
        } catch (RuntimeException $e) {
            $answer = "{$e->getCode()}: {$e->getMessage()}";
        }
        break;
    default:
        http_response_code(404);
}
$vault->send();
echo $answer;
