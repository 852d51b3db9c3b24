<?php
// SPDX-License-Identifier: Apache-2.0
// The comments in plain PHP: a front controller of its own. COMMENTS, by SetEnv, names the file.
declare(strict_types=1);

require_once __DIR__ . '/../Vault.php';
require_once __DIR__ . '/Comments.php';

$vault = new ModVault\Vault();
$comments = new Comments($vault, $_SERVER['COMMENTS']);

function text(string $field): string
{
    return is_string($_POST[$field] ?? null) ? $_POST[$field] : '';
}

$answer = '';
switch ($_SERVER['REQUEST_METHOD'] . ' ' . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) {
    case 'GET /':
        $answer = $comments->page();
        break;
    case 'GET /news':
        $answer = $comments->news();
        break;
    case 'GET /count':
        $answer = $comments->countNews();
        break;
    case 'POST /comments':
        $comments->add(text('text'));
        header('Location: /', true, 303);
        break;
    case 'POST /filter':
        $comments->filter(text('word'));
        http_response_code(204);
        break;
    default:
        http_response_code(404);
}
$vault->send();
echo $answer;
